import * as fc from 'fast-check';
import { expect, test } from '@playwright/test';
import type { Tensor, TensorInfo, Tensors } from '../../../../../src/contract/tensors.ts';
import { divide } from '../../../../../src/worker/tasks/pictures/tiles.ts';
import { createTestContext, createTestHandler, ImageToImage } from '../../../../../src/worker.ts';

test('tiles: each pixel comes from one tile, which reaches the overlap beyond it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 400 }),
      fc.integer({ min: 1, max: 120 }),
      fc.integer({ min: 0, max: 59 }),
      (length, tile, overlap) => {
        fc.pre(2 * overlap < tile);
        const spans = divide(length, tile, overlap);
        return (
          spans[0]!.from === 0 &&
          spans.at(-1)!.to === length &&
          spans.every(
            ({ start, from, to }, index) =>
              (index === 0 || from === spans[index - 1]!.to) &&
              to > from &&
              start >= 0 &&
              (spans.length === 1 ||
                (start + tile <= length &&
                  (from === 0 || from - start >= overlap) &&
                  (to === length || start + tile - to >= overlap))),
          )
        );
      },
    ),
  );
});

type Side = number | string;
const input = (height: Side, width: Side, layout: 'NCHW' | 'NHWC'): TensorInfo => ({
  name: 'x',
  dtype: 'float32',
  dims: layout === 'NCHW' ? [1, 3, height, width] : [1, height, width, 3],
});

/**
 * Doubles the size: each pixel is the mean of the 3 × 3 around it, with zeros beyond the edge. It looks one pixel far.
 */
function blurAndDouble(layout: 'NCHW' | 'NHWC') {
  return ({ x }: Tensors): Tensors => {
    const [height, width] = layout === 'NCHW' ? x!.dims.slice(2) : x!.dims.slice(1);
    const source = x!.data as Float32Array;
    const at = (channel: number, row: number, column: number): number =>
      layout === 'NCHW' ? (channel * height! + row) * width! + column : (row * width! + column) * 3 + channel;
    const data = new Float32Array(source.length * 4);
    for (let channel = 0; channel < 3; channel++)
      for (let row = 0; row < height!; row++)
        for (let column = 0; column < width!; column++) {
          let sum = 0;
          for (let y = Math.max(0, row - 1); y <= Math.min(height! - 1, row + 1); y++)
            for (let z = Math.max(0, column - 1); z <= Math.min(width! - 1, column + 1); z++)
              sum += source[at(channel, y, z)]! / 9;
          for (const [dy, dx] of [
            [0, 0],
            [0, 1],
            [1, 0],
            [1, 1],
          ] as const)
            data[
              layout === 'NCHW'
                ? (channel * height! * 2 + row * 2 + dy) * width! * 2 + column * 2 + dx
                : ((row * 2 + dy) * width! * 2 + column * 2 + dx) * 3 + channel
            ] = sum;
        }
    const dims = layout === 'NCHW' ? [1, 3, height! * 2, width! * 2] : [1, height! * 2, width! * 2, 3];
    return { y: { dtype: 'float32', dims, data } satisfies Tensor };
  };
}

/** Pixels that differ everywhere. */
function photo(width: number, height: number) {
  const data = Uint8Array.from({ length: width * height * 3 }, (_, index) => (index * 37 + (index >> 4) * 11) % 256);
  return { data, dims: [height, width, 3] };
}

for (const layout of ['NCHW', 'NHWC'] as const) {
  const imageProcessing = layout === 'NCHW' ? ['toTensor'] : ['toTensor', { layout: 'NHWC' }];
  const make = (height: Side, width: Side, config: Readonly<Record<string, unknown>> = {}) =>
    createTestHandler(ImageToImage, {
      inputs: [input(height, width, layout)],
      outputs: blurAndDouble(layout),
      config: { handler: { imageProcessing, ...config } },
    });

  test(`image to image, ${layout}: tiled equals untiled, for every size of photo`, async () => {
    const whole = await make('height', 'width', { tileSize: 1000, overlap: 1 });
    for (const [width, height] of [
      [9, 7],
      [8, 8],
      [17, 23],
      [31, 8],
      [5, 40],
      [1, 1],
    ] as const)
      for (const [tileSize, overlap] of [
        [8, 1],
        [8, 3],
        [5, 2],
        [1000, 16],
      ] as const) {
        const tiled = await make('height', 'width', { tileSize, overlap });
        const expected = await whole.predict(photo(width, height));
        const found = await tiled.predict(photo(width, height));
        expect([found.width, found.height, found.data.length]).toEqual([width * 2, height * 2, width * height * 16]);
        expect(found.data, `${width} × ${height} in tiles of ${tileSize}`).toEqual(expected.data);
        const sides = tiled.runs.map(({ x }) => (layout === 'NCHW' ? x!.dims.slice(2) : x!.dims.slice(1, 3)));
        expect(sides.every(([h, w]) => h === Math.min(tileSize, height) && w === Math.min(tileSize, width))).toBe(true);
      }
  });

  test(`image to image, ${layout}: a model of fixed size gets tiles of its size; a smaller photo is continued`, async () => {
    const whole = await make('height', 'width', { tileSize: 1000, overlap: 1 });
    const fixed = await make(8, 6, { overlap: 1 });
    const large = photo(20, 15);
    expect((await fixed.predict(large)).data).toEqual((await whole.predict(large)).data);
    const small = await fixed.predict(photo(4, 3));
    expect([small.width, small.height]).toEqual([8, 6]);
    // Where the model looks only at the photo, the answer is that of the photo alone.
    const expected = (await whole.predict(photo(4, 3))).data;
    const row = (picture: Uint8ClampedArray, y: number): number[] => [...picture.subarray(y * 32, y * 32 + 24)];
    for (let y = 0; y < 4; y++) expect(row(small.data, y)).toEqual(row(expected, y));
  });
}

test('image to image: an overlap of half a tile is the fault of who set it', async () => {
  const make = (config: object) =>
    createTestHandler(ImageToImage, {
      inputs: [input(8, 8, 'NCHW')],
      outputs: blurAndDouble('NCHW'),
      config: { handler: { overlap: 1, ...config } },
    });
  await expect(make({ overlap: 4 })).rejects.toMatchObject({ code: 'model-config' });
  await expect((await make({})).predict(photo(20, 20), { params: { overlap: 4 } })).rejects.toMatchObject({
    code: 'invalid-input',
    message: 'overlap: it must be less than half of a tile, which is 8 × 8 pixels, got 4.',
  });
});

test('image to image: the mask of pixels has the size of the tile, fixed or not, in a batch too', async () => {
  const photo = (value: number) => ({ data: new Uint8Array(9 * 7 * 3).fill(value), dims: [7, 9, 3] });
  for (const [height, width] of [
    ['height', 'width'],
    [4, 4],
  ] as const) {
    const handler = await createTestHandler(ImageToImage, {
      inputs: [input(height, width, 'NCHW'), { name: 'pixel_mask', dtype: 'int64', dims: [1, height, width] }],
      outputs: blurAndDouble('NCHW'),
      config: { handler: { tileSize: 4, overlap: 1 } },
    });
    const pictures = await handler.handle([photo(10), photo(200)]);
    expect(pictures.map((picture) => (picture as { width: number }).width)).toEqual([18, 18]);
    for (const { x, pixel_mask } of handler.runs) {
      expect(pixel_mask!.dims).toEqual([1, ...x!.dims.slice(2)]);
      expect(pixel_mask!.data).toEqual(new BigInt64Array(16).fill(1n));
    }
    expect(handler.runs.length).toBeGreaterThan(8);
  }
});

test('image to image: the range, the order of colors, gray and alpha, rounding and clamping', async () => {
  const predict = async (
    channels: number,
    values: number[],
    config: Readonly<Record<string, unknown>> = {},
    numbers: Pick<Tensor<'float32' | 'uint8'>, 'dtype' | 'data'> = {
      dtype: 'float32',
      data: Float32Array.from(values),
    },
  ): Promise<number[] | Error> =>
    await (
      await createTestHandler(ImageToImage, {
        outputs: { y: { ...numbers, dims: [1, channels, 1, 1] } as Tensor },
        config: { handler: config },
      })
    )
      .predict(photo(1, 1))
      .then(({ data }) => [...data])
      .catch((error: Error) => error);
  expect(await predict(3, [0, 0.5, 1])).toEqual([0, 128, 255, 255]);
  expect(await predict(3, [-3, 126.5, 300], { outputRange: [0, 255] })).toEqual([0, 126, 255, 255]);
  expect(await predict(3, [-1, 0, 1], { outputRange: [-1, 1] })).toEqual([0, 128, 255, 255]);
  expect(await predict(1, [0.2])).toEqual([51, 51, 51, 255]);
  const bytes = { dtype: 'uint8', data: Uint8Array.of(0, 126, 255) } as const;
  expect(await predict(3, [], {}, bytes)).toEqual([0, 126, 255, 255]);
  expect(await predict(3, [], { outputRange: [0, 252] }, bytes)).toEqual([0, 128, 255, 255]);
  expect(await predict(4, [0, 0.2, 1, 0.4])).toEqual([0, 51, 255, 102]);
  expect(await predict(3, [0, 0.2, 1], { imageProcessing: [{ colorOrder: 'BGR' }, 'toTensor'] })).toEqual([
    255, 51, 0, 255,
  ]);
  expect(await predict(2, [0, 1])).toMatchObject({ code: 'model-config' });
  expect(await predict(3, [0, NaN, 1])).toMatchObject({ code: 'inference-failed' });
  expect(await predict(3, [0, 0, 1], { outputRange: [1, 1] }).catch((error: Error) => error)).toMatchObject({
    code: 'model-config',
  });
});

test('image to image: an overlap that leaves nothing, a size that is no multiple, a result that is too large', async () => {
  const make = (outputs: (feeds: Tensors) => Tensors, config: Readonly<Record<string, unknown>> = {}) =>
    createTestHandler(ImageToImage, {
      inputs: [input('height', 'width', 'NCHW')],
      outputs,
      config: { handler: config },
    });
  const failed = async (work: Promise<unknown>): Promise<unknown> => await work.catch((error: Error) => error);
  expect(await failed(make(blurAndDouble('NCHW'), { tileSize: 32, overlap: 16 }))).toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('less than half of a tile, which is 32 × 32'),
  });
  const output = (dims: number[]): Tensors => ({
    y: { dtype: 'float32', dims, data: new Float32Array(dims.reduce((product, dim) => product * dim, 1)) },
  });
  expect(await failed((await make(() => output([1, 3, 5, 7]))).predict(photo(4, 4)))).toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('7 × 5 pixels of 4 × 4'),
  });
  let tiles = 0;
  const growing = await make(() => output([1, 3, 4 * ++tiles, 4 * tiles]), { tileSize: 4, overlap: 1 });
  expect(await failed(growing.predict(photo(8, 8)))).toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('different sizes'),
  });
  const huge = await make(() => output([1, 3, 4000, 4000]), { tileSize: 4, overlap: 1 });
  expect(await failed(huge.predict(photo(8, 8)))).toMatchObject({ code: 'image-too-large' });
});

test('image to image: a tensor without the dims of an image is an error of the input', async () => {
  const handler = await createTestHandler(ImageToImage, {
    inputs: [input('height', 'width', 'NCHW')],
    outputs: blurAndDouble('NCHW'),
  });
  const flat = { data: new Float32Array(12), dims: [12] };
  await expect(handler.predict(flat)).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('has the dims [12], but'),
  });
  expect(await handler.handle([photo(4, 3), flat])).toMatchObject([{ width: 8, height: 6 }, { code: 'invalid-input' }]);
});

test('image to image: a small tile has a small overlap, unless one is named', async () => {
  const make = (handler: Readonly<Record<string, unknown>>) =>
    createTestHandler(ImageToImage, {
      inputs: [input(8, 8, 'NCHW')],
      outputs: blurAndDouble('NCHW'),
      config: { handler },
    });
  const { width, height } = await (await make({})).predict(photo(20, 20));
  expect([width, height]).toEqual([40, 40]);
  await expect(make({ overlap: 16 })).rejects.toMatchObject({ code: 'model-config' });
});

test('image to image: an abort ends the work after the tile that runs', async () => {
  const stop = new AbortController();
  let runs = 0;
  const session = {
    inputs: [input('height', 'width', 'NCHW')],
    outputs: [{ name: 'y', dtype: 'float32' as const, dims: [1, 3, 'height', 'width'] }],
    run: async (feeds: Tensors) => {
      if (++runs === 2) stop.abort();
      return blurAndDouble('NCHW')(feeds);
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const config = { handler: { tileSize: 4, overlap: 1 } };
  const handler = new ImageToImage();
  await handler.initialize(createTestContext({ session, config }));
  const context = { ...createTestContext({ session, config, batchSize: 1 }), signal: stop.signal };
  const x = { dtype: 'float32' as const, dims: [1, 3, 40, 40], data: new Float32Array(3 * 1600) };
  await expect(handler.inference({ x }, context)).rejects.toThrow(/abort/i);
  expect(runs).toBe(2);
});

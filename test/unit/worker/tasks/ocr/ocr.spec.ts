// Reading text: the steps against OpenCV and Clipper (test/goldens/ocr/make.py), and the handlers with stand-ins for
// their models.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { TextDetector } from '../../../../../src/worker/tasks/ocr/text-detector.ts';
import { TextOrienter } from '../../../../../src/worker/tasks/ocr/text-orienter.ts';
import { TextReader } from '../../../../../src/worker/tasks/ocr/text-reader.ts';
import { TextRecognizer } from '../../../../../src/worker/tasks/ocr/text-recognizer.ts';
import { decodeCtc } from '../../../../../src/worker/tasks/ocr/ctc.ts';
import { findBoxes } from '../../../../../src/worker/tasks/ocr/find-boxes.ts';
import {
  cropQuad,
  resizeLinear,
  turnAround,
  type Point,
  type Quad,
} from '../../../../../src/worker/tasks/ocr/raster.ts';
import { miniBox, offsetPolygon, perimeter, signedArea } from '../../../../../src/worker/tasks/ocr/rectangle.ts';
import { findOutlines } from '../../../../../src/worker/tasks/ocr/regions.ts';
import { toFloat16 } from '../../../../../src/worker/tensors/float16.ts';
import { createTestHandler } from '../../../../../src/worker/host/testing.ts';

interface Goldens {
  readonly image: number[];
  readonly rectangles: readonly { readonly points: Point[]; readonly box: Quad; readonly side: number }[];
  readonly offsets: readonly { readonly box: Quad; readonly expanded: Point[] }[];
  readonly warps: readonly {
    readonly box: Quad;
    readonly dims: readonly [number, number, number];
    readonly data: number[];
  }[];
  readonly resizes: readonly { readonly width: number; readonly height: number; readonly data: number[] }[];
  readonly maps: readonly { readonly thousandths: number[]; readonly boxes: Quad[] }[];
}
const goldens = JSON.parse(
  readFileSync(new URL('../../../../goldens/ocr/geometry.json', import.meta.url), 'utf8'),
) as Goldens;
const image = { width: 60, height: 40, data: Uint8Array.from(goldens.image) };
const largest = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Math.max(...Array.from(a, (value, index) => Math.abs(value - b[index]!)));
const bounds = (points: readonly Point[]): number[] =>
  [0, 1].flatMap((axis) => [
    Math.min(...points.map((one) => one[axis]!)),
    Math.max(...points.map((one) => one[axis]!)),
  ]);

test('rectangles of the least area are those of cv2.minAreaRect', () => {
  for (const { points, box, side } of goldens.rectangles) {
    const found = miniBox(points);
    expect(found.side).toBeCloseTo(side, 3);
    expect(largest(found.corners.flat(), box.flat()), JSON.stringify(points)).toBeLessThan(0.01);
  }
  expect(miniBox([[3, 4]])).toEqual({
    side: 0,
    corners: [
      [3, 4],
      [3, 4],
      [3, 4],
      [3, 4],
    ],
  });
  expect(
    miniBox([
      [0, 0],
      [4, 0],
    ]).side,
  ).toBe(0);
});

test("polygons with a margin are Clipper's", () => {
  for (const { box, expanded } of goldens.offsets) {
    const margin = (Math.abs(signedArea(box)) * 1.5) / perimeter(box);
    const found = offsetPolygon(box, margin);
    expect(bounds(found)).toEqual(bounds(expanded));
    expect(largest(miniBox(found).corners.flat(), miniBox(expanded).corners.flat())).toBeLessThan(1);
  }
  expect(
    offsetPolygon(
      [
        [1, 1],
        [1, 1],
        [1, 1],
        [1, 1],
      ],
      2,
    ),
  ).toEqual([]);
});

test('outlines: regions with corners in touch, holes, and nothing at the border', () => {
  const rows = ['##....', '..#...', '.###..', '.#.#..', '.###.#'];
  const map = { width: 6, height: 5, data: [...rows.join('')].map((one) => (one === '#' ? 1 : 0)) };
  const outlines = findOutlines(map, 0.5).map((points) => new Set(points.map(String)));
  expect(outlines).toHaveLength(3);
  expect(outlines[0]!.has('0,0') && outlines[0]!.has('3,4')).toBe(true);
  expect(outlines[1]).toEqual(new Set(['1,3', '3,3', '2,2', '2,4']));
  expect(outlines[2]).toEqual(new Set(['5,4']));
});

test("boxes of maps are DBPostProcess's, in the photo's pixels", () => {
  for (const { thousandths, boxes } of goldens.maps) {
    const map = { width: 64, height: 48, data: Float32Array.from(thousandths, (value) => value / 1000) };
    const found = findBoxes(map, { width: 300, height: 180 }, { threshold: 0.3, boxThreshold: 0.6, unclipRatio: 1.5 });
    expect(found).toHaveLength(boxes.length);
    for (const [index, box] of found.entries())
      expect(largest(box.flat(), boxes[index]!.flat()), `box ${index}`).toBeLessThanOrEqual(5);
  }
});

test('lines are cut out as cv2.warpPerspective does, and scaled as cv2.resize does', () => {
  for (const { box, dims, data } of goldens.warps) {
    const line = cropQuad(image, box);
    expect([line.height, line.width, 3]).toEqual(dims);
    expect(largest(line.data, data)).toBeLessThanOrEqual(2);
  }
  for (const { width, height, data } of goldens.resizes)
    expect(largest(resizeLinear(image, width, height).data, data)).toBeLessThanOrEqual(1);
  expect(turnAround(turnAround(image))).toEqual(image);
  expect(Array.from(turnAround(image).data.subarray(0, 3))).toEqual(goldens.image.slice(-3));
});

test('greedy CTC: repetitions and blanks', () => {
  const steps = [1, 1, 0, 1, 2, 2, 0].flatMap((best) => [0, 1, 2].map((index) => (index === best ? 0.8 : 0.1)));
  const { text, score } = decodeCtc(steps, 3, ['a', 'b']);
  expect([text, score]).toEqual(['aab', expect.closeTo(0.8, 6)]);
  expect(decodeCtc([0.9, 0.1, 0.9, 0.1], 2, ['a'])).toEqual({ text: '', score: 0 });
});

const photo = (width: number, height: number) => ({
  data: new Uint8Array(width * height * 3).fill(200),
  dims: [height, width, 3],
});
const floats = (dims: number[], value: (index: number) => number) =>
  ({
    dtype: 'float32',
    dims,
    data: Float32Array.from({ length: dims.reduce((a, b) => a * b) }, (_, index) => value(index)),
  }) as const;
const anyImage = [{ name: 'x', dtype: 'float32', dims: ['rows', 3, 'height', 'width'] }] as const;
/** A detector that finds text in the middle of its map. */
const detect = {
  inputs: anyImage,
  outputs: ({ x }: Record<string, { readonly dims: readonly number[] }>) => {
    const [, , height, width] = x!.dims as [number, number, number, number];
    const isInside = (at: number, size: number): boolean => at > size / 4 && at < (size * 3) / 4;
    return {
      map: floats([x!.dims[0]!, 1, height, width], (index) =>
        isInside(index % width, width) && isInside(Math.floor(index / width) % height, height) ? 1 : 0,
      ),
    };
  },
};
/** A recognizer that reads "ab" in each line. */
const recognize = {
  inputs: anyImage,
  outputs: ({ x }: Record<string, { readonly dims: readonly number[] }>) => ({
    text: floats([x!.dims[0]!, 3, 4], (index) => ([5, 0, 10].includes(index % 12) ? 0.9 : 0.03)),
  }),
  files: { 'characters.txt': 'a\nb\n' },
};
const orient = {
  inputs: anyImage,
  outputs: ({ x }: Record<string, { readonly dims: readonly number[] }>) => ({
    angle: floats([x!.dims[0]!, 2], (index) => (index % 2 === 0 ? 0.02 : 0.98)),
  }),
};
const config = { nodes: { detect: 'detect/', orient: 'orient/', recognize: 'recognize/' } };

test('a reader finds, turns and reads; lines come as parts, then all of them', async () => {
  const reader = await createTestHandler(TextReader, { config, nodes: { detect, orient, recognize } });
  const lines = await reader.predict(photo(200, 100));
  expect(lines).toEqual([{ text: 'ab', score: expect.closeTo(0.9, 4), box: expect.any(Array) }]);
  const [[left, top], , [right, bottom]] = lines[0]!.box;
  expect([left, top, right, bottom].every((value, index) => Math.abs(value - [28, 3, 172, 97][index]!) < 8)).toBe(true);
  const stream = await reader.stream(photo(200, 100));
  expect(stream).toEqual([lines[0], lines]);
  expect(await reader.predict(photo(200, 100), { params: { minScore: 0.95 } })).toEqual([]);
});

test('photos without text, of one pixel, of 12 megapixels, and one that is no photo', async () => {
  const blank = {
    inputs: anyImage,
    outputs: ({ x }: Record<string, { readonly dims: readonly number[] }>) => ({
      map: floats([1, 1, x!.dims[2]!, x!.dims[3]!], () => 0),
    }),
  };
  const reader = await createTestHandler(TextReader, {
    config: { nodes: { detect: 'd/', recognize: 'r/' } },
    nodes: { detect: blank, recognize },
  });
  const answers = await reader.handle([
    photo(300, 200),
    photo(1, 1),
    'no photo' as never,
    photo(1, 300),
    photo(4000, 3000),
  ]);
  expect(answers).toEqual([
    [],
    [],
    expect.objectContaining({ name: 'PredictionError', code: 'invalid-input' }),
    [],
    [],
  ]);
});

test('photos are scaled to 960 pixels, and to multiples of 32', async () => {
  const detector = await createTestHandler(TextDetector, detect);
  await detector.predict(photo(2000, 1000));
  await detector.predict(photo(20, 10));
  await detector.handle([photo(100, 60), photo(50, 70)]).catch(() => {});
  expect(detector.runs.map(({ x }) => x!.dims)).toEqual([
    [1, 3, 480, 960],
    [1, 3, 32, 32],
  ]);
});

test('a tiny photo gets black at the right and at the bottom, whichever of its sides is short; its boxes are in its own pixels', async () => {
  for (const [width, height] of [
    [40, 20],
    [20, 40],
    [24, 20],
  ] as const) {
    const detector = await createTestHandler(TextDetector, detect);
    const [box] = await detector.predict(photo(width, height));
    const { dims, data } = detector.runs[0]!['x']!;
    expect(dims).toEqual([1, 3, 32, 32]);
    // PaddleOCR's `image_padding`: to 32 pixels, without scaling the photo.
    const isBlack = (x: number, y: number): boolean => Number(data[y * 32 + x]) < -2;
    const [across, down] = [Math.min(width, 32), Math.min(height, 32)];
    expect(
      [isBlack(across - 1, down - 1), isBlack(31, down - 1), isBlack(across - 1, 31)],
      `${width} × ${height}`,
    ).toEqual([false, width < 32, height < 32]);
    // The map has text from 9 to 23 of its 32 pixels; a box grows by 14² · 1.5 / 56 = 5.25 on each side, and ends with
    // the photo.
    const near = (at: number, side: number): number => Math.min((at * Math.max(side, 32)) / 32, side - 1);
    const [left, top] = box![0];
    const [right, bottom] = box![2];
    for (const [value, expected] of [
      [left, near(4, width)],
      [top, near(4, height)],
      [right, near(28, width)],
      [bottom, near(28, height)],
    ] as const)
      expect(Math.abs(value - expected), `${width} × ${height}: ${box}`).toBeLessThan(1.5);
  }
});

test('a line as PP-OCRv5’s model of line orientation gets it, by OpenCV', async () => {
  const { size, tensor } = JSON.parse(
    readFileSync(new URL('../../../../goldens/ocr/orient.json', import.meta.url), 'utf8'),
  ) as { readonly size: readonly [number, number]; readonly tensor: readonly number[] };
  const handler = {
    size,
    keepsRatio: false,
    colorOrder: 'RGB',
    mean: [0.485, 0.456, 0.406],
    std: [0.229, 0.224, 0.225],
    minScore: 0,
  };
  const fixed = (height: number, width: number) => [
    { name: 'x', dtype: 'float32' as const, dims: [null, 3, height, width] },
  ];
  const likelier = { angle: [[0.48, 0.52]] };
  const orienter = await createTestHandler(TextOrienter, {
    inputs: fixed(...size),
    outputs: likelier,
    config: { handler },
  });
  const line = { data: image.data, dims: [image.height, image.width, 3] };
  expect(await orienter.predict(line)).toEqual({ upsideDown: true, score: expect.closeTo(0.52, 5) });
  const { dims, data } = orienter.runs[0]!['x']!;
  expect(dims).toEqual([1, 3, ...size]);
  // A level of 255, where OpenCV rounds another way, is 0.0175.
  expect(largest(data as Float32Array, tensor)).toBeLessThan(0.018);
  const wrong = createTestHandler(TextOrienter, { inputs: fixed(80, 160), outputs: likelier });
  await expect(wrong).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('handler.size: it is [48, 192], and the model\'s input "x" is 80 × 160.'),
  });
});

test('a file of characters of another model, and an orienter of more classes', async () => {
  const wrong = createTestHandler(TextRecognizer, { ...recognize, files: { 'characters.txt': 'a\nb\nc\n' } });
  await expect(wrong).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('the model has 4 classes'),
  });
  await expect(createTestHandler(TextRecognizer, { ...recognize, files: {} })).rejects.toMatchObject({
    code: 'model-not-found',
  });
  await expect(
    createTestHandler(TextOrienter, { inputs: anyImage, outputs: { angle: [[0.1, 0.2, 0.7]] } }),
  ).rejects.toMatchObject({ code: 'model-config', message: expect.stringContaining('two classes') });
});

test("a line is scaled to 48 pixels; a batch is as wide as its longest line, as PaddleOCR's", async () => {
  const recognizer = await createTestHandler(TextRecognizer, recognize);
  const rows = await recognizer.handle([photo(100, 20), photo(600, 30), 'no image' as never]);
  expect(rows.map((row) => (row instanceof Error ? row.code : row.text))).toEqual(['ab', 'ab', 'invalid-input']);
  const { dims, data } = recognizer.runs[0]!['x']!;
  expect(dims).toEqual([3, 3, 48, 960]);
  expect([data[0], data[239], data[240]].map((value) => Math.round(Number(value) * 1000) / 1000)).toEqual([
    0.569, 0.569, 0,
  ]);
});

test('numbers of half precision are read as such, and a row with one that is not finite fails alone', async () => {
  type Feeds = Record<string, { readonly dims: readonly number[] }>;
  /** A model whose last row of two has a NaN, in half precision. */
  const half = <M extends typeof detect | typeof recognize | typeof orient>(model: M) => ({
    ...model,
    outputs: ({ x }: Feeds) =>
      Object.fromEntries(
        Object.entries(model.outputs({ x: x! })).map(([name, { dims, data }]) => {
          const values = Float32Array.from(data);
          if (dims[0] === 2) values[values.length / 2 + 3 * Number(dims.length > 2)] = NaN;
          return [name, { dtype: 'float16' as const, dims, data: toFloat16(values) }];
        }),
      ),
  });
  const failed = expect.objectContaining({ code: 'inference-failed', stage: 'postprocess' });
  const photos = [photo(200, 100), photo(200, 100)];

  const detector = await createTestHandler(TextDetector, half(detect));
  const [expected] = await (await createTestHandler(TextDetector, detect)).handle(photos);
  expect(await detector.handle(photos)).toEqual([expected, failed]);

  const recognizer = await createTestHandler(TextRecognizer, half(recognize));
  expect(await recognizer.handle(photos)).toEqual([{ text: 'ab', score: expect.closeTo(0.9, 3) }, failed]);

  const orienter = await createTestHandler(TextOrienter, half(orient));
  expect(await orienter.handle(photos)).toEqual([{ upsideDown: true, score: expect.closeTo(0.98, 3) }, failed]);
});

test('an output whose open dims turn out to be others is an error, not another text', async () => {
  const photos = [photo(200, 100), photo(200, 100)];
  const wrong = [
    [TextDetector, detect, 'model-config', [[2], [2, 10], [2, 3, 32, 32], [2, 1, 0, 0]]],
    [TextRecognizer, recognize, 'model-config', [[2], [2, 4], [2, 3, 5], [2, 3, 2, 4]]],
    [TextOrienter, orient, 'model-config', [[2], [2, 0], [2, 4]]],
    [TextDetector, detect, 'batch-contract', [[4], [1, 1, 32, 32]]],
    [TextRecognizer, recognize, 'batch-contract', [[4], [1, 3, 4]]],
    [TextOrienter, orient, 'batch-contract', [[4], [1, 2]]],
  ] as const;
  for (const [handler, model, code, all] of wrong)
    for (const dims of all) {
      /** Gives these dims for a batch of two, where the dims that it declares are its own. */
      const outputs = (feeds: Record<string, { readonly dims: readonly number[] }>) => {
        const own = model.outputs({ x: feeds['x']! });
        const name = Object.keys(own)[0]!;
        return feeds['x']!.dims[0] === 2 ? { [name]: floats([...dims], () => 0.5) } : own;
      };
      const tested = await createTestHandler(handler as typeof TextOrienter, { ...model, outputs });
      await expect(tested.handle(photos), `${handler.name} [${dims.join()}]`).rejects.toMatchObject({ code });
    }
});

test('a picture of one row of pixels is refused where it would be too long, and no other', async () => {
  const recognizer = await createTestHandler(TextRecognizer, {
    outputs: ({ x }) => ({
      y: { dtype: 'float32', dims: [x!.dims[0]!, 1, 2], data: new Float32Array(2 * x!.dims[0]!) },
    }),
    inputs: [{ name: 'x', dtype: 'float32', dims: [null, 3, 48, null] }],
    files: { 'characters.txt': 'a' },
    config: { handler: { space: false } },
  });
  const line = (width: number) => ({ data: new Uint8Array(width * 3), dims: [1, width, 3] });
  const [long, short] = await recognizer.handle([line(100_000), line(20)]);
  expect(long).toMatchObject({ code: 'image-too-large' });
  expect(short).toMatchObject({ text: '' });
});

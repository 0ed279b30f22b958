import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import { buildKernel } from '../../../../scripts/build-kernels.mjs';
import type { DecodedImage, PixelFormat, Pixels, Rect } from '../../../../src/contract/images.js';
import {
  centerCrop,
  colorOrder,
  compileTransforms,
  compose,
  grayscale,
  layout,
  letterbox,
  normalize,
  padImage,
  parseTransforms,
  resize,
  toTensor,
  type Geometry,
  type Interpolation,
  type Transforms,
} from '../../../../src/worker/transforms/index.js';
import { createJsResampleKernel } from '../../../../src/worker/transforms/resample-kernel-js.js';
import {
  createResampleKernel,
  createWasmResampleKernel,
  type ResampleKernel,
} from '../../../../src/worker/transforms/resample-kernel.js';
import { compileTransformsWith } from '../../../../src/worker/transforms/compile.js';

/** A seeded linear congruential generator: integers in 0 … below - 1. */
function randoms(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function noise(width: number, height: number, format: PixelFormat = 'RGB', seed = 1): Pixels {
  const step = { L: 1, RGB: 3, BGR: 3, RGBX: 4, BGRX: 4 }[format];
  const random = randoms(seed);
  return {
    format,
    width,
    height,
    stride: width * step,
    data: Uint8Array.from({ length: width * height * step }, () => random(256)),
  };
}

/** Says what is read of it. */
function recorded(pixels: Pixels): DecodedImage & { readonly reads: Rect[] } {
  const reads: Rect[] = [];
  return {
    reads,
    width: pixels.width,
    height: pixels.height,
    read(rect = { x: 0, y: 0, width: pixels.width, height: pixels.height }) {
      reads.push(rect);
      const step = pixels.stride / pixels.width;
      return Promise.resolve({
        ...pixels,
        width: rect.width,
        height: rect.height,
        data: pixels.data.subarray(rect.y * pixels.stride + rect.x * step),
      });
    },
    close() {},
  };
}

const FILTERS: readonly Interpolation[] = ['nearest', 'bilinear', 'bicubic', 'lanczos'];

test('the committed kernel is what its source compiles to', async () => {
  expect(readFileSync('src/worker/transforms/resample.wasm.ts', 'utf8')).toBe(
    await buildKernel('worker/transforms/resample'),
  );
});

test('the window that a crop keeps equals the crop of the whole, and no more is read', async () => {
  const random = randoms(7);
  for (let i = 0; i < 60; i++) {
    const [width, height, newWidth, newHeight] = [1 + random(90), 1 + random(90), 1 + random(90), 1 + random(90)];
    const crop = [1 + random(newHeight), 1 + random(newWidth)] as const;
    const scale = resize([newHeight, newWidth], { interpolation: FILTERS[i % 4]! });
    const pixels = noise(width, height, i % 3 ? 'BGRX' : 'L', i);
    const whole = await compileTransforms(compose(scale, toTensor())).run(pixels);
    const image = recorded(pixels);
    const { data, geometry } = await compileTransforms(compose(scale, centerCrop(crop), toTensor())).run(image);
    const expected = [];
    for (let c = 0; c < 3; c++)
      for (let y = 0; y < crop[0]; y++)
        for (let x = 0; x < crop[1]; x++)
          expected.push(whole.data[(c * newHeight + y - geometry.offsetY) * newWidth + x - geometry.offsetX]!);
    expect([...data], `${width}×${height} to ${newWidth}×${newHeight}, ${crop.join('×')}`).toEqual(expected);
    expect(image.reads).toHaveLength(1);
  }
  const photo = recorded(noise(400, 300));
  await compileTransforms(compose(resize([30, 40]), centerCrop([20, 30]), toTensor())).run(photo);
  // Columns 5 … 34 and rows 5 … 24 of a tenth: a filter reaches 10 pixels to each side of a center, and the centers are
  // 55 … 345 and 55 … 245.
  expect(photo.reads).toEqual([{ x: 45, y: 45, width: 310, height: 210 }]);
});

test('what a crop cut off does not come back where a later step pads', async () => {
  const pixels: Pixels = { format: 'L', width: 4, height: 1, stride: 4, data: Uint8Array.from([10, 20, 30, 40]) };
  const transforms = compileTransforms(
    compose(grayscale(), centerCrop([1, 2]), padImage([1, 0], { fill: 7 }), toTensor({ scale: 1 })),
  );
  for (const image of [pixels, recorded(pixels)])
    expect([...(await transforms.run(image)).data]).toEqual([7, 20, 30, 7]);
});

test('both kernels agree, whatever the sizes, tiles and strips', async () => {
  const random = randoms(3);
  const sizes: (readonly [number, number, number, number])[] = Array.from({ length: 40 }, () => [
    1 + random(300),
    1 + random(300),
    1 + random(300),
    1 + random(300),
  ]);
  // Many tiles, in both directions; strips of two rows.
  sizes.push([1200, 1100, 1190, 1090], [9000, 400, 9000, 1], [40, 3000, 3000, 40], [40000, 3, 3, 5]);
  const [js, wasm] = [createJsResampleKernel(), createWasmResampleKernel()!];
  for (const [i, [width, height, newWidth, newHeight]] of sizes.entries()) {
    const pixels = noise(width, height, (['BGRX', 'RGB', 'L'] as const)[i % 3]!, i);
    const transforms = compose(resize([newHeight, newWidth], { interpolation: FILTERS[1 + (i % 3)]! }), toTensor());
    const [expected, actual] = [
      await compileTransformsWith(() => js, transforms).run(pixels),
      await compileTransformsWith(() => wasm, transforms).run(pixels),
    ];
    expect(
      Buffer.from(actual.data.buffer).equals(Buffer.from(expected.data.buffer)),
      `${width}×${height} to ${newWidth}×${newHeight}`,
    ).toBe(true);
  }
  for (const kernel of [js, wasm]) expect(kernel.memory(0).length).toBeLessThan(9 << 20);
});

test('where WebAssembly or SIMD is refused, JavaScript computes', () => {
  expect(createResampleKernel().name).toBe('wasm');
  const { Module } = WebAssembly;
  try {
    Object.assign(WebAssembly, {
      Module: () => {
        throw new WebAssembly.CompileError('refused by the Content Security Policy');
      },
    });
    expect(createResampleKernel().name).toBe('js');
  } finally {
    Object.assign(WebAssembly, { Module });
  }
});

test('runs of one plan overlap', async () => {
  const plan = compileTransforms(
    compose(grayscale({ channels: 3 }), padImage(3), resize(40), centerCrop(33), toTensor()),
  );
  const images = Array.from({ length: 6 }, (_, i) => noise(50 + i * 17, 90 - i * 7, 'BGRX', i));
  const alone = [];
  for (const image of images) alone.push((await plan.run(image)).data);
  const together = await Promise.all(
    images.map((image, i) =>
      plan.run({
        width: image.width,
        height: image.height,
        read: async (rect) => {
          for (let wait = 0; wait < (i * 5) % 7; wait++) await Promise.resolve();
          return recorded(image).read(rect);
        },
        close() {},
      }),
    ),
  );
  expect(together.map(({ data }) => data)).toEqual(alone);
});

test('a row goes where it should in the batch', async () => {
  const plan = compileTransforms(compose(resize([4, 5]), toTensor()));
  const [dims, image] = [plan.outputDims(9, 9), noise(9, 9)];
  const batch = new Float32Array(2 * 60).fill(-1);
  const { data, dims: sameDims } = await plan.run(image, batch, 60);
  expect([data, sameDims]).toEqual([batch, dims]);
  expect(batch.subarray(0, 60).every((value) => value === -1)).toBe(true);
  expect(batch.subarray(60)).toEqual((await plan.run(image)).data);
  await expect(plan.run(image, batch, 61)).rejects.toMatchObject({ code: 'invalid-input' });
});

async function geometry(width: number, height: number, ...steps: Transforms): Promise<Geometry> {
  return (await compileTransforms(compose(...steps, toTensor())).run(noise(width, height))).geometry;
}

test('geometry leads from the image to the tensor', async () => {
  expect(await geometry(20, 10)).toEqual({ scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 });
  expect(await geometry(200, 100, resize(50), centerCrop(40))).toEqual({
    scaleX: 0.5,
    scaleY: 0.5,
    offsetX: -30,
    offsetY: -5,
  });
  expect(await geometry(200, 100, letterbox([64, 64]))).toEqual({
    scaleX: 0.32,
    scaleY: 0.32,
    offsetX: 0,
    offsetY: 16,
  });
  expect(await geometry(200, 100, letterbox([64, 64], { position: 'top-left' }))).toEqual({
    scaleX: 0.32,
    scaleY: 0.32,
    offsetX: 0,
    offsetY: 0,
  });
  expect(await geometry(20, 10, padImage([4, 2]), resize([28, 14]))).toEqual({
    scaleX: 0.5,
    scaleY: 2,
    offsetX: 2,
    offsetY: 4,
  });
  expect(await geometry(2, 1000, resize([10, 10]))).toEqual({ scaleX: 5, scaleY: 0.01, offsetX: 0, offsetY: 0 });
});

test('what cannot be transformed is refused', async () => {
  const plan = compileTransforms(compose(resize(10, { maxSize: 20 }), toTensor()));
  await expect(plan.run({ ...noise(4, 4), width: 0 })).rejects.toMatchObject({ code: 'invalid-input' });
  await expect(plan.run({ ...noise(4, 4), height: 5 })).rejects.toMatchObject({ code: 'invalid-input' });
  await expect(plan.run(noise(1, 1000))).rejects.toThrow(
    'An image of 1 × 1000 pixels would be resized to 0 × 20, which leaves no pixel.',
  );
  expect(() => plan.outputDims(1, 1000)).toThrow('0 × 20');
});

test('the kernel is made when it is first needed, and a plan without a filter needs little memory', async () => {
  let made = 0;
  let bytes = 0;
  const kernel = createJsResampleKernel();
  const create = (): ResampleKernel => {
    made += 1;
    return { ...kernel, memory: (length) => kernel.memory((bytes = Math.max(bytes, length))) };
  };
  const plan = compileTransformsWith(create, compose(centerCrop(600), toTensor()));
  expect(made).toBe(0);
  await plan.run(noise(601, 601));
  expect(made).toBe(1);
  expect(bytes).toBeLessThan(300_000);
});

test('a config says what the functions say', () => {
  const steps = compose(
    resize(256),
    resize([48, 192], { interpolation: 'bicubic' }),
    resize(256, { interpolation: 'lanczos', maxSize: 300 }),
    centerCrop(224),
    centerCrop([32, 30]),
    padImage(4),
    padImage([1, 2], { fill: [1, 2, 3] }),
    letterbox([640, 320]),
    letterbox([640, 320], { fill: 0, interpolation: 'nearest' }),
    letterbox([640, 320], { position: 'top-left' }),
    grayscale({ channels: 3 }),
    grayscale(),
    colorOrder('BGR'),
    toTensor({ scale: 1 }),
    normalize([0.5], [0.25]),
    layout('NHWC'),
  );
  const config = [
    { resize: 256 },
    { resize: { size: [48, 192], interpolation: 'bicubic' } },
    { resize: { size: 256, interpolation: 'lanczos', maxSize: 300 } },
    { centerCrop: 224 },
    { centerCrop: { size: [32, 30] } },
    { pad: 4 },
    { pad: { padding: [1, 2], fill: [1, 2, 3] } },
    { letterbox: [640, 320] },
    { letterbox: { size: [640, 320], fill: 0, interpolation: 'nearest' } },
    { letterbox: { size: [640, 320], position: 'top-left' } },
    { grayscale: 3 },
    'grayscale',
    { colorOrder: 'BGR' },
    { toTensor: { scale: 1 } },
    { normalize: { mean: 0.5, std: [0.25] } },
    { layout: 'NHWC' },
  ];
  expect(parseTransforms(config)).toEqual(steps);
  expect(parseTransforms(JSON.parse(JSON.stringify(steps)))).toEqual(steps);
  expect(parseTransforms([{ toTensor: null }])).toEqual([toTensor()]);
  expect(compileTransforms(steps).transforms).toEqual(steps);
});

for (const [config, message] of [
  ['resize', 'handler.imageProcessing must be a list of steps, not "resize".'],
  [[7], 'handler.imageProcessing[0] must be the name of a step, or an object with one key, its name, not 7.'],
  [[{ resize: 1, pad: 2 }], 'handler.imageProcessing[0] must be the name of a step'],
  [
    ['rezise'],
    "handler.imageProcessing[0]: there is no step 'rezise'. The steps are resize, centerCrop, pad, mirror, letterbox, grayscale, colorOrder, toTensor, normalize, resizeTensor, padTensor, letterboxTensor, layout.",
  ],
  [
    [{ centerCrop: 1 }, { resize: 'big' }],
    'handler.imageProcessing[1].resize.size must be a number, image, or [height, width], integers in 1..1000000, not "big".',
  ],
  [[{ resize: 2.5 }], 'handler.imageProcessing[0].resize.size must be'],
  [
    ['resize'],
    'handler.imageProcessing[0].resize.size must be a number, image, or [height, width], integers in 1..1000000, not undefined.',
  ],
  [
    [{ resize: { size: 4, interpolation: 'area' } }],
    'handler.imageProcessing[0].resize.interpolation must be one of nearest, box, bilinear, hamming, bicubic, lanczos, not "area".',
  ],
  [
    [{ resize: { size: 4, antialias: true } }],
    'handler.imageProcessing[0].resize.antialias is unknown. The options of handler.imageProcessing[0].resize are size, interpolation, side, maxSize, multipleOf, toMultiple, keepAspectRatio, thumbnail, rounding.',
  ],
  [[{ resize: { size: [4, 4], side: 'longer' } }], 'resize.side must be shorter or longer, with one number'],
  [[{ resize: { size: 4, side: 'longer', rounding: 'transformers' } }], 'longer has no maxSize or rounding'],
  [[{ resize: { size: 4, maxSize: 4 } }], 'resize.maxSize must be an integer greater than size'],
  [[{ resize: { size: [4, 4], maxSize: 9 } }], 'resize.maxSize must be'],
  [[{ resize: { size: 4, multipleOf: 5 } }], 'resize.multipleOf must be a positive integer of at most size'],
  [[{ resize: { size: [4, 4], toMultiple: 'up' } }], 'resize.multipleOf must be a positive integer'],
  [[{ resize: { size: [4, 4], multipleOf: 2, toMultiple: 'left' } }], 'toMultiple must be one of down, nearest, up'],
  [[{ resize: { size: 4, keepAspectRatio: true } }], 'keepAspectRatio must be true or false, with a size of [height'],
  [[{ resize: { size: 4, thumbnail: true } }], 'thumbnail must be true or false, with a size of [height'],
  [['mirror'], 'mirror must be an object with either multipleOf or margin, not undefined.'],
  [[{ mirror: { multipleOf: 2, margin: 1 } }], 'mirror must be an object with either multipleOf or margin'],
  [[{ mirror: { multipleOf: 0 } }], 'mirror.multipleOf must be an integer in 1..1000000, not 0.'],
  [[{ mirror: { margin: -1 } }], 'mirror.margin must be a number above 0, not -1.'],
  [['toTensor', { mirror: 2 }], 'mirror must come before toTensor'],
  [[{ padTensor: [4, 4] }, 'toTensor'], 'padTensor must come after toTensor'],
  [['toTensor', 'padTensor'], 'padTensor must be an object with either size or multipleOf, not undefined.'],
  [
    ['toTensor', { resizeTensor: { size: [4, 4], antialias: true, alignCorners: true } }],
    'alignCorners must be false with antialias',
  ],
  [['toTensor', { resizeTensor: 4 }], 'resizeTensor.size must be [height, width]'],
  [['toTensor', { letterboxTensor: [4, 4] }], 'letterboxTensor.side must be an integer in 1..1000000'],
  [['toTensor', { letterboxTensor: { side: 4, fill: 'gray' } }], 'letterboxTensor.fill must be a finite number'],
  [[{ letterboxTensor: 4 }, 'toTensor'], 'letterboxTensor must come after toTensor'],
  [
    [{ resize: { size: 4, maxSize: 3, rounding: 'transformers' } }],
    'resize.maxSize must be an integer of at least size',
  ],
  [[{ centerCrop: [1, 2, 3] }], 'centerCrop.size must be'],
  [[{ pad: -1 }], 'pad.padding must be an integer in 0..1000000, or 2 or 4 of them, not -1.'],
  [[{ pad: [1, 2, 3] }], 'pad.padding must be'],
  [[{ pad: { padding: 1, fill: 256 } }], 'pad.fill must be an integer in 0..255, or [red, green, blue], not 256.'],
  [[{ letterbox: 640 }], 'letterbox.size must be [height, width], integers in 1..1000000, not 640.'],
  [
    [{ letterbox: { size: [64, 32], position: 'left' } }],
    'letterbox.position must be one of center, top-left, not "left".',
  ],
  [[{ grayscale: 2 }], 'grayscale.channels must be one of 1, 3, not 2.'],
  [[{ colorOrder: 'GBR' }], 'colorOrder must be one of RGB, BGR, not "GBR".'],
  [[{ toTensor: { scale: 0 } }], 'toTensor.scale must be a finite number other than 0, not 0.'],
  [['toTensor', 'normalize'], 'normalize.mean must be one finite number, or 3, not undefined.'],
  [
    ['toTensor', { normalize: { mean: 0, std: 1e-60 } }],
    'normalize.std must be numbers other than 0 in float32, not 1e-60.',
  ],
  [['toTensor', { layout: 'CHW' }], 'layout must be one of NCHW, NHWC, not "CHW".'],
  [[{ normalize: { mean: 0, std: 1 } }, 'toTensor'], 'handler.imageProcessing[0].normalize must come after toTensor.'],
  [['toTensor', { resize: 4 }], 'handler.imageProcessing[1].resize must come before toTensor.'],
  [['toTensor', 'toTensor'], 'handler.imageProcessing[1].toTensor occurs twice; it is allowed once.'],
  [
    ['toTensor', { layout: 'NHWC' }, { layout: 'NCHW' }],
    'handler.imageProcessing[2].layout occurs twice; it is allowed once.',
  ],
  [[{ resize: 4 }], 'handler.imageProcessing has no toTensor: the model needs a tensor.'],
  [
    ['grayscale', { pad: { padding: 1, fill: [1, 2, 3] } }, 'toTensor'],
    'handler.imageProcessing[1].pad fills one channel: its fill must be one number.',
  ],
  [
    ['grayscale', 'toTensor', { normalize: { mean: [1, 2, 3], std: 1 } }],
    'handler.imageProcessing[2].normalize has 3 values for an image of one channel.',
  ],
] as const) {
  test(`refused: ${JSON.stringify(config)}`, () => {
    let error: unknown;
    try {
      parseTransforms(config);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({
      name: 'TabServeError',
      code: 'model-config',
      message: expect.stringContaining(message),
    });
  });
}

test('a function refuses a wrong option by its name, and compile a wrong order', () => {
  expect(() => resize(0)).toThrow(
    'resize.size must be a number, image, or [height, width], integers in 1..1000000, not 0.',
  );
  expect(() => compileTransforms(compose(toTensor(), resize(3)))).toThrow(
    'imageProcessing[1].resize must come before toTensor.',
  );
});

test('invalid transforms in a config always give a model-config error', () => {
  const names = fc.constantFrom(
    'resize',
    'centerCrop',
    'pad',
    'letterbox',
    'grayscale',
    'normalize',
    'layout',
    'rotate',
  );
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  const value = fc.oneof(
    fc.anything({ withBigInt: true, withNullPrototype: true }),
    fc.constant(cyclic),
    fc.constant(1n),
  );
  const step = fc.oneof(
    value,
    names,
    fc.tuple(names, value).map((entry) => Object.fromEntries([entry])),
  );
  fc.assert(
    fc.property(fc.oneof(value, fc.array(step)), (transforms) => {
      try {
        parseTransforms(transforms);
      } catch (error) {
        expect(error).toMatchObject({ name: 'TabServeError', code: 'model-config' });
      }
    }),
    { numRuns: 500 },
  );
});

/** The samples of the docblocks of `transforms/index.ts` and of `Geometry`. */
test('transforms run alone, and their geometry leads from the tensor back to the image', async () => {
  const [width, height] = [1280, 720];
  const imageData = { data: new Uint8ClampedArray(width * height * 4).fill(255) };
  const mean = [0.5, 0.5, 0.5];
  const std = [0.25, 0.25, 0.25];
  const transforms = compileTransforms(compose(resize(256), centerCrop(224), toTensor(), normalize(mean, std)));
  const { data, dims } = await transforms.run({
    format: 'RGBX',
    width,
    height,
    stride: width * 4,
    data: imageData.data,
  });
  expect(dims).toEqual([3, 224, 224]);
  expect([...new Set(data)]).toEqual([2]);

  const boxed = compileTransforms(compose(letterbox([640, 640]), toTensor()));
  const { geometry } = await boxed.run({ format: 'RGBX', width, height, stride: width * 4, data: imageData.data });
  expect(geometry).toEqual({ scaleX: 0.5, scaleY: 0.5, offsetX: 0, offsetY: 140 });
  const { scaleX, scaleY, offsetX, offsetY } = geometry;
  const toImage = (u: number, v: number): number[] => [(u - offsetX) / scaleX, (v - offsetY) / scaleY];
  expect([...toImage(100, 200), ...toImage(300, 400)]).toEqual([200, 120, 600, 520]);
});

/**
 * The pass that cuts a crop out, computed by the definition of its function, and what is sent for several crops of a
 * frame. The shader itself is compared in `browser/gpu-images.spec.ts`.
 */
import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import type { DecodedImage, Pixels, Rect, Region } from '../../../../../src/contract/images.js';
import { ImageCrop } from '../../../../../src/worker/transforms/crop-image.js';
import { compileGpuTransforms } from '../../../../../src/worker/transforms/gpu/compile.js';
import { noisePixels } from '../../../../../src/worker/transforms/gpu/benchmark.js';
import { cropPass, fitsShader } from '../../../../../src/worker/transforms/gpu/crop-pass.js';
import { compileTransforms, parseTransforms } from '../../../../../src/worker/transforms/index.js';
import { isOnEdge } from '../../../../crop-edge.ts';
import { FakeGpu, GPU_FLAGS } from '../../../support/fake-gpu.ts';

test.beforeEach(() => void Object.assign(globalThis, GPU_FLAGS));
test.afterAll(() => Object.keys(GPU_FLAGS).forEach((name) => Reflect.deleteProperty(globalThis, name)));

const WIDTH = 41;
const HEIGHT = 37;

function frameOf(width = WIDTH, height = HEIGHT) {
  const data = noisePixels(width, height);
  const pixels = ({ x, y, ...size } = { x: 0, y: 0, width, height }): Pixels => ({
    ...size,
    format: 'RGBX',
    stride: width * 4,
    data: data.subarray((y * width + x) * 4),
  });
  const frame = {
    width,
    height,
    pixels,
    reads: 0,
    read(rect?: Rect): Pixels {
      frame.reads += 1;
      return pixels(rect);
    },
    close: () => {},
  };
  return frame;
}

/** What the shader computes of a whole frame. */
function compute(crop: ImageCrop, frame: Pixels): number[] {
  const { width, height, params, table } = cropPass(crop, { x: 0, y: 0, width: crop.width, height: crop.height });
  const [, , columns, rows, , , , , , , , border] = params as unknown as number[];
  const half = (at: number): bigint => (BigInt(table[at]!) << 32n) + BigInt(table[at + 1]! >>> 0);
  const round = Math.fround;
  const along = (place: bigint, size: number) => {
    const pixel = Number(place >> 48n);
    const after = place & ((1n << 48n) - 1n);
    const weights = [round(Number((1n << 48n) - after) / 2 ** 48), round(Number(after) / 2 ** 48)];
    const pixels = [pixel, pixel + 1].map((one) => Math.min(Math.max(one, 0), size - 1));
    if (border !== 0) pixels.forEach((one, at) => one !== pixel + at && (weights[at] = 0));
    return { pixels, weights, isBeyond: pixel < 0 || pixel >= size || (pixel === size - 1 && after !== 0n) };
  };
  const found: number[] = [];
  for (let v = 0; v < height; v++)
    for (let u = 0; u < width; u++) {
      const [column, row] = [4 * u, 4 * (width + v)];
      const x = along(half(column) + half(row), columns!);
      const y = along(half(column + 2) + half(row + 2), rows!);
      for (const channel of [0, 1, 2]) {
        const mixed = (top: number): number => {
          const [first, second] = x.pixels.map((left, at) =>
            round(frame.data[top * frame.stride + left * 4 + channel]! * x.weights[at]!),
          );
          return round(first! + second!);
        };
        const [upper, lower] = y.pixels.map((top, at) => round(y.weights[at]! * mixed(top)));
        found.push(border === 2 && (x.isBeyond || y.isBeyond) ? 0 : round(upper! + lower!));
      }
    }
  return [...new Uint8ClampedArray(found)];
}

const place = fc.double({ min: -20, max: 60, noNaN: true });
const side = fc.double({ min: 1, max: 90, noNaN: true });
const angle = fc.double({ min: -4, max: 4, noNaN: true });
const regions: fc.Arbitrary<Region> = fc.record({ x: place, y: place, width: side, height: side, angle });
const sizes = fc.record({ columns: fc.integer({ min: 1, max: 24 }), rows: fc.integer({ min: 1, max: 24 }) });

test('the places are the CPU’s, for each border', async () => {
  await fc.assert(
    fc.asyncProperty(regions, sizes, fc.constantFrom('replicate', 'zero', 'cut'), async (turned, sides, border) => {
      const frame = frameOf();
      const crop = new ImageCrop(frame, turned, sides, border);
      const expected = [...(await crop.read()).data];
      const found = compute(crop, frame.pixels());
      const isClear = (_: number, at: number): boolean => border !== 'cut' || !isOnEdge(crop, Math.floor(at / 3));
      expect(found.filter(isClear)).toEqual(expected.filter(isClear));
    }),
    { numRuns: 300 },
  );
});

const transforms = compileTransforms(parseTransforms(['toTensor']));
const region = { x: 20, y: 18, width: 16, height: 16, angle: 0.3 };
const size = { columns: 8, rows: 8 };

test('a frame is read and sent once for all crops of it, and again if another one came in between', async () => {
  const gpu = compileGpuTransforms(new FakeGpu().device, transforms);
  const [first, second] = [frameOf(), frameOf()];
  const run = async (frame: DecodedImage, turn: number): Promise<void> => {
    const row = await gpu.run(new ImageCrop(frame, { ...region, angle: turn }, size, 'replicate'));
    expect(row!.dims).toEqual([3, 8, 8]);
    row!.release();
  };
  for (const turn of [0, 1, 2]) await run(first, turn);
  expect(first.reads).toBe(1);
  await run(second, 0);
  await run(first, 0);
  expect([first.reads, second.reads]).toEqual([2, 1]);
  // The other frame is sent while this run waits.
  await Promise.all([run(second, 0), run(first, 1)]);
  await run(first, 2);
  expect([first.reads, second.reads].every((reads) => reads <= 4)).toBe(true);
});

test('places that 16 bits do not hold are left to the CPU', async () => {
  const gpu = compileGpuTransforms(new FakeGpu().device, transforms);
  const far = new ImageCrop(frameOf(), { ...region, x: 2 ** 15 }, size, 'zero');
  expect(fitsShader(far)).toBe(false);
  expect(await gpu.run(far)).toBeUndefined();
  expect(fitsShader(new ImageCrop(frameOf(), region, size, 'zero'))).toBe(true);
  expect(fitsShader(new ImageCrop(frameOf(2 ** 15, 1), region, size, 'zero'))).toBe(false);
});

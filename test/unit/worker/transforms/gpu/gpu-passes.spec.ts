/**
 * The passes of a GPU, computed by the definition of their functions: windows, tables and parameters, without a GPU.
 * The shaders themselves are compared in `browser/gpu-images.spec.ts`.
 */
import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import type { Pixels } from '../../../../../src/contract/images.js';
import { passesOf, type Pass } from '../../../../../src/worker/transforms/gpu/passes.js';
import { fits } from '../../../../../src/worker/transforms/gpu/resources.js';
import { compileTransforms, parseTransforms } from '../../../../../src/worker/transforms/index.js';
import { createProgram } from '../../../../../src/worker/transforms/program.js';
import { tensorForm } from '../../../../../src/worker/transforms/tensor.js';

/** What `shaders.ts` computes for a pass. */
function compute({ entry, width, height, params, table }: Pass, input: Int32Array): Int32Array {
  const [, , sourceWidth, sourceHeight, dx, dy, , fill, channels, reversed, last] = params as unknown as number[];
  const bytesOf = (word: number): number[] => [word & 255, (word >> 8) & 255, (word >> 16) & 255];
  const pixel = (x: number, y: number): number[] => {
    if (x < 0 || y < 0 || x >= sourceWidth! || y >= sourceHeight!) throw new RangeError(`${entry} reads (${x}, ${y})`);
    return bytesOf(input[y * sourceWidth! + x]!);
  };
  const toWord = ([r, g, b]: readonly number[]): number => r! | (g! << 8) | (b! << 16);
  const scale = (output: number, outputs: number, read: (tap: number) => number[]): number => {
    const sums = [0, 1, 2].map((channel) => {
      let sum = 1 << 21;
      for (let tap = 0; tap < table[outputs + output]!; tap++)
        sum += table[(2 + tap) * outputs + output]! * read(table[output]! + tap)[channel]!;
      if (sum !== (sum | 0)) throw new RangeError(`${sum} does not fit into 32 bits`);
      return Math.min(255, Math.max(0, sum >> 22));
    });
    return toWord(sums);
  };
  const result = new Int32Array(width * height * (entry === 'lookUp' ? channels! : 1));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      if (entry === 'scaleColumns') result[at] = scale(x, width, (column) => pixel(column, y + dy!));
      else if (entry === 'scaleRows') result[at] = scale(y, height, (row) => pixel(x + dx!, row));
      else if (entry === 'nearest') result[at] = toWord(pixel(table[x]!, table[width + y]!));
      else if (entry === 'place') {
        const isInside = x + dx! >= 0 && y + dy! >= 0 && x + dx! < sourceWidth! && y + dy! < sourceHeight!;
        result[at] = isInside ? toWord(pixel(x + dx!, y + dy!)) : fill!;
      } else if (entry === 'gray') {
        const [r, g, b] = pixel(x + dx!, y + dy!);
        const gray = (r! * 19595 + g! * 38470 + b! * 7471 + 0x8000) >> 16;
        result[at] = toWord([gray, gray, gray]);
      } else {
        const [r, g, b] = pixel(x, y);
        const color = reversed ? [b, g, r] : [r, g, b];
        for (let channel = 0; channel < channels!; channel++)
          result[last ? at * channels! + channel : channel * width * height + at] =
            table[channel * 256 + color[channel]!]!;
      }
    }
  return result;
}

const side = fc.integer({ min: 1, max: 40 });
const pair = fc.tuple(side, side);
const level = fc.integer({ min: 0, max: 255 });
const color = fc.oneof(level, fc.tuple(level, level, level));
const interpolation = fc.constantFrom('nearest', 'bilinear', 'bicubic', 'lanczos');
const geometric = (fill: fc.Arbitrary<number | number[]>): fc.Arbitrary<object> =>
  fc.oneof(
    fc.record({ size: pair, interpolation }).map((resize) => ({ resize })),
    pair.map((centerCrop) => ({ centerCrop })),
    fc.record({ padding: fc.tuple(fc.nat(9), fc.nat(9), fc.nat(9), fc.nat(9)), fill }).map((pad) => ({ pad })),
    fc.record({ size: pair, fill, interpolation }).map((letterbox) => ({ letterbox })),
  );

test('the passes compute what the CPU does, and read nothing outside of their input', async () => {
  await fc.assert(
    fc.asyncProperty(
      pair,
      fc.array(geometric(color), { maxLength: 3 }),
      fc.constantFrom(undefined, 1 as const, 3 as const),
      fc.array(geometric(level), { maxLength: 1 }),
      fc.boolean(),
      fc.boolean(),
      fc.integer(),
      async ([height, width], before, gray, after, isBgr, isLast, seed) => {
        const steps = [
          ...before,
          ...(gray ? [{ grayscale: gray }, ...after] : []),
          ...(isBgr && gray !== 1 ? [{ colorOrder: 'BGR' }] : []),
          { toTensor: {} },
          { normalize: gray === 1 ? { mean: 0.4, std: 0.2 } : { mean: [0.4, 0.5, 0.6], std: [0.2, 0.3, 0.4] } },
          ...(isLast ? [{ layout: 'NHWC' }] : []),
        ];
        const transforms = parseTransforms(steps);
        let state = seed;
        const data = Uint8Array.from(
          { length: width * height * 4 },
          () => (state = Math.imul(state, 1664525) + 1013904223) >>> 24,
        );
        const image: Pixels = { format: 'RGBX', width, height, stride: width * 4, data };
        const program = createProgram(transforms, width, height);
        const words = new Int32Array(data.buffer);
        const { x, y, ...window } = program.source ?? { x: 0, y: 0, width: 0, height: 0 };
        const source = Int32Array.from(
          { length: window.width * window.height },
          (_, index) => words[(y + Math.floor(index / window.width)) * width + x + (index % window.width)]!,
        );
        const passes = passesOf(program, tensorForm(transforms));
        const made = passes.reduce<Int32Array>((input, pass) => {
          const result = compute(pass, input);
          expect(result.byteLength).toBe(pass.bytes);
          return result;
        }, source);
        const { data: expected } = await compileTransforms(transforms).run(image);
        expect(Buffer.from(made.buffer).equals(Buffer.from(expected.buffer))).toBe(true);
      },
    ),
    { numRuns: 100 },
  );
});

test('a device that could not hold the image or a pass gets neither', () => {
  const limits = {
    maxStorageBufferBindingSize: 2 ** 27,
    maxBufferSize: 2 ** 28,
    maxComputeWorkgroupsPerDimension: 65_535,
    maxTextureDimension2D: 8192,
  } as GPUSupportedLimits;
  const isHeld = (width: number, height: number, steps: unknown, source: 'texture' | 'RGBX' = 'texture'): boolean => {
    const transforms = parseTransforms(steps);
    const program = createProgram(transforms, width, height);
    return fits(limits, program.source!, passesOf(program, tensorForm(transforms)), source);
  };
  const small = [{ resize: [224, 224] }, { toTensor: {} }];
  expect(isHeld(8192, 3000, small)).toBe(true);
  expect(isHeld(8193, 3000, small)).toBe(false);
  // A buffer has no sides.
  expect(isHeld(8193, 3000, small, 'RGBX')).toBe(true);
  // 4 bytes a pixel: 2^27 of them are 2^25 pixels.
  expect(isHeld(8192, 4096, small, 'RGBX')).toBe(true);
  expect(isHeld(8192, 4097, small, 'RGBX')).toBe(false);
  // The tensor: 12 bytes a pixel.
  expect(isHeld(100, 100, [{ resize: [3000, 3000] }, { toTensor: {} }])).toBe(true);
  expect(isHeld(100, 100, [{ resize: [4000, 4000] }, { toTensor: {} }])).toBe(false);
});

/** The kernels of video frames and masks, bit for bit. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import { buildKernel } from '../../../../scripts/build-kernels.mjs';
import type { DecodedImage, Pixels, Rect } from '../../../../src/contract/images.ts';
import { convertVideo, createVideoKernel, type VideoColor } from '../../../../src/worker/images/planar/video-color.ts';
import {
  createInterpolateKernel,
  createJsInterpolateKernel,
  createWasmInterpolateKernel,
  type InterpolateKernel,
} from '../../../../src/worker/outputs/interpolate-kernel.ts';
import { axis, bilinear, eachRow, type Axis, type Grid } from '../../../../src/worker/outputs/interpolate.ts';
import { eachRowWithPauses } from '../../../../src/worker/outputs/interpolate-with-pauses.ts';
import type { Maps } from '../../../../src/worker/outputs/maps.ts';
import { compileTransforms, compose, resize, toTensor } from '../../../../src/worker/transforms/index.ts';

/** libyuv's `kYuvI601Constants`, and the same with the largest factors that a signed byte and 16 bits allow. */
const COLORS: readonly VideoColor[] = [
  [18997, -1160, 128, 25, 52, 102],
  [16320, 32, 113, 22, 46, 90],
  [19003, -1160, 128, 12, 42, 127],
];

function bytes(length: number, seed: number): Uint8Array {
  let state = seed;
  return Uint8Array.from({ length }, () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 24);
}

for (const name of ['worker/images/planar/video', 'worker/outputs/interpolate', 'worker/transforms/crop'] as const)
  test(`the kernel ${name} is compiled from its source`, async () => {
    expect(readFileSync(`src/${name}.wasm.ts`, 'utf8')).toBe(await buildKernel(name));
  });

test('video: the kernel computes libyuv’s conversion, for every window of planes and pairs', () => {
  const kernel = createVideoKernel()!;
  const side = fc.integer({ min: 1, max: 70 });
  fc.assert(
    fc.property(side, side, fc.boolean(), fc.nat(), fc.nat(), fc.nat(), fc.nat(2), (...drawn) => {
      const [width, height, interleaved, seed, left, top, index] = drawn;
      const [columns, rows] = [(width + 1) >> 1, (height + 1) >> 1];
      const color = COLORS[index]!;
      const window = {
        x: left % width,
        y: top % height,
        width: width - (left % width),
        height: height - (top % height),
      };
      const y = bytes(width * height, seed);
      const chroma = bytes(2 * columns * rows, seed + 1);
      const [u, v] = interleaved ? [chroma, chroma.subarray(1)] : [chroma, chroma.subarray(columns * rows)];
      const uStride = interleaved ? 2 * columns : columns;
      const planes = {
        y,
        u,
        v,
        yStride: width,
        uStride,
        vStride: uStride,
        width,
        height,
        halfWidth: true,
        halfHeight: true,
        interleaved,
        narrow: false,
      };
      const right = new Uint8ClampedArray(window.width * window.height * 4);
      const [gain, bias, blueU, greenU, greenV, redV] = color;
      for (let row = 0, to = 0; row < window.height; row++)
        for (let column = 0; column < window.width; column++, to += 4) {
          const [px, py] = [window.x + column, window.y + row];
          const at = (py >> 1) * uStride + (px >> 1) * (interleaved ? 2 : 1);
          const [b, r] = [u[at]! - 128, v[at]! - 128];
          const l = Math.floor((y[py * width + px]! * 257 * gain) / 65536) + bias;
          right[to] = Math.floor((l + redV * r) / 64);
          right[to + 1] = Math.floor((l - greenU * b - greenV * r) / 64);
          right[to + 2] = Math.floor((l + blueU * b) / 64);
        }
      return convertVideo(kernel, planes, window, color).every((value, i) => i % 4 === 3 || value === right[i]);
    }),
    { numRuns: 100 },
  );
});

/** By the definition, one pixel at a time. */
function sampled({ data, layout, channels, width, height }: Maps, { columns, rows }: Grid): Float64Array {
  const out = new Float64Array(rows.size * channels * columns.size);
  const value = (channel: number, x: number, y: number): number =>
    data[layout === 'NCHW' ? (channel * height + y) * width + x : (y * width + x) * channels + channel]!;
  for (let y = rows.first; y < rows.end; y++)
    for (let channel = 0; channel < channels; channel++)
      for (let x = columns.first; x < columns.end; x++) {
        const [left, right, weight] = [columns.from[x]!, columns.to[x]!, columns.weight[x]!];
        const across = (row: number): number =>
          value(channel, left, row) + (value(channel, right, row) - value(channel, left, row)) * weight;
        const [above, below] = [across(rows.from[y]!), across(rows.to[y]!)];
        out[(y * channels + channel) * columns.size + x] = above + (below - above) * rows.weight[y]!;
      }
  return out;
}

test('masks: both kernels interpolate as defined, in every layout, also where a crop has removed pixels', () => {
  const kernels: readonly InterpolateKernel[] = [createJsInterpolateKernel(), createWasmInterpolateKernel()!];
  const side = fc.integer({ min: 1, max: 40 });
  const line = (mapSize: number): fc.Arbitrary<Axis> =>
    fc
      .tuple(fc.integer({ min: 1, max: 90 }), fc.constantFrom(0, -mapSize / 3, 1), fc.constantFrom(1, 1.5, 0.7))
      .map(([size, offset, factor]) => axis(size, mapSize, (mapSize / size) * factor, offset));
  const drawn = fc.tuple(side, side).chain(([width, height]) =>
    fc.record({
      width: fc.constant(width),
      height: fc.constant(height),
      columns: line(width),
      rows: line(height),
      channels: fc.constantFrom(1, 2, 3, 7),
      layout: fc.constantFrom('NCHW' as const, 'NHWC' as const),
      seed: fc.nat(),
    }),
  );
  fc.assert(
    fc.property(drawn, ({ columns, rows, seed, ...form }) => {
      const data = Float32Array.from(bytes(form.width * form.height * form.channels, seed), (byte) => (byte - 99) / 7);
      const maps = { ...form, data };
      const right = sampled(maps, { columns, rows });
      return kernels.every((kernel) => {
        const length = form.channels * columns.size;
        let same = true;
        const visit = (values: Float64Array, y: number): void => {
          for (let i = 0; i < length; i++) {
            const x = i % columns.size;
            if (x >= columns.first && x < columns.end) same &&= Object.is(values[i], right[y * length + i]);
          }
        };
        eachRow(maps, { columns, rows }, visit, kernel);
        if (form.channels > 1) return same;
        const mask = bilinear(maps, { columns, rows }, kernel);
        return (
          same && mask.length === right.length && mask.every((value, i) => Object.is(value, Math.fround(right[i]!)))
        );
      });
    }),
    { numRuns: 100 },
  );
});

test('masks: a map that needs more memory than a kernel may keep is sampled all the same', () => {
  const data = Float32Array.from({ length: 4 * 4 * 200 }, (_, i) => i);
  const maps = { data, channels: 200, width: 4, height: 4, layout: 'NCHW' } as const;
  const grid = { columns: axis(3000, 4), rows: axis(2, 4) };
  const right = sampled(maps, grid);
  let same = true;
  eachRow(maps, grid, (values, y) => {
    for (let i = 0; i < values.length; i += 97) same &&= values[i] === right[y * values.length + i];
  });
  expect(same).toBe(true);
});

test('masks: many channels are sampled in bands of rows, with a pause before each; an abort ends them', async () => {
  const data = Float32Array.from({ length: 4 * 4 * 200 }, (_, i) => i);
  const maps = { data, channels: 200, width: 4, height: 4, layout: 'NCHW' } as const;
  const grid = { columns: axis(3000, 4), rows: axis(60, 4) };
  const seen: number[] = [];
  const samples: number[] = [];
  const visit = (values: Float64Array, y: number): void => {
    seen.push(y);
    for (let i = 0; i < values.length; i += 997) samples.push(values[i]!);
  };
  eachRow(maps, grid, visit);
  const [rows, right] = [seen.splice(0), samples.splice(0)];
  const pauses: number[] = [];
  await eachRowWithPauses(maps, grid, visit, () => void pauses.push(seen.length));
  expect(seen).toEqual(rows);
  expect(samples).toEqual(right);
  expect(pauses).toEqual([0, 28, 56]);
  seen.length = 0;
  const abort = (): void => {
    if (seen.length > 0) throw new Error('aborted');
  };
  await expect(eachRowWithPauses(maps, grid, visit, abort)).rejects.toThrow('aborted');
  expect(seen).toHaveLength(28);
});

test('where WebAssembly or SIMD is refused, JavaScript computes masks, and the browser converts video', () => {
  const kernels = (): unknown[] => [createInterpolateKernel().name, typeof createVideoKernel()];
  expect(kernels()).toEqual(['wasm', 'object']);
  const { Module } = WebAssembly;
  try {
    Object.assign(WebAssembly, {
      Module: () => {
        throw new WebAssembly.CompileError('refused by the Content Security Policy');
      },
    });
    expect(kernels()).toEqual(['js', 'undefined']);
  } finally {
    Object.assign(WebAssembly, { Module });
  }
});

/** A picture that is read whole, or a few rows at a time. */
function picture(width: number, height: number, inStrips: boolean): DecodedImage {
  const data = bytes(width * height * 4, width);
  const part = ({ x, y, width: columns, height: rows }: Rect): Uint8Array => {
    const out = new Uint8Array(columns * rows * 4);
    for (let row = 0; row < rows; row++) {
      const from = ((y + row) * width + x) * 4;
      out.set(data.subarray(from, from + columns * 4), row * columns * 4);
    }
    return out;
  };
  const read = (rect: Rect = { x: 0, y: 0, width, height }): Pixels => ({
    format: 'RGBX',
    width: rect.width,
    height: rect.height,
    stride: rect.width * 4,
    data: part(rect),
  });
  const readStrips: DecodedImage['readStrips'] = (rect) => ({
    format: 'RGBX',
    width: rect.width,
    height: rect.height,
    strip: (top, rows) => part({ ...rect, y: rect.y + top, height: rows }),
  });
  return { width, height, read, ...(inStrips && { readStrips }), close: () => {} };
}

test('a picture gives the same tensor when it is read a few rows at a time', async () => {
  for (const [width, height, size] of [
    [640, 360, [64, 64]],
    [333, 257, [500, 100]],
    [64, 400, [31, 64]],
    [1500, 700, [700, 1300]],
    [9, 5, [3, 2]],
  ] as const) {
    const transforms = compileTransforms(compose(resize(size), toTensor()));
    const [whole, strips] = [
      await transforms.run(picture(width, height, false)),
      await transforms.run(picture(width, height, true)),
    ];
    expect(Buffer.from(strips.data.buffer).equals(Buffer.from(whole.data.buffer)), `${width}×${height}`).toBe(true);
  }
});

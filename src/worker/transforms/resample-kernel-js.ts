/** The passes in plain JavaScript, for environments without WebAssembly SIMD. */
import type { ResampleKernel, PassTaps, Rows } from './resample-kernel.js';
import { PRECISION_BITS } from './taps.js';

const HALF = 1 << (PRECISION_BITS - 1);

/** Creates the kernel that works everywhere. */
export function createJsResampleKernel(): ResampleKernel {
  let bytes = new Uint8Array(0);
  const taps: Partial<Record<'horizontal' | 'vertical', PassTaps>> = {};
  return {
    name: 'js',
    memory(length) {
      if (bytes.length < length) bytes = new Uint8Array((length + 3) & ~3);
      return bytes;
    },
    setTaps(pass, value) {
      taps[pass] = value;
    },
    horizontal(source, target, rows, step) {
      (step === 1 ? horizontal1 : horizontal3)(bytes, taps.horizontal!, source, target, rows, step);
    },
    vertical(source, target, rows) {
      vertical(bytes, taps.vertical!, source, target, rows);
    },
    lookUp(source, step, count, table, target, advance) {
      const numbers = new Float32Array(bytes.buffer);
      for (let i = 0, from = source, to = target >> 2; i < count; i++, from += step, to += advance)
        numbers[to] = numbers[(table >> 2) + bytes[from]!]!;
    },
  };
}

function clip(sum: number): number {
  const value = sum >> PRECISION_BITS;
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

function horizontal1(
  bytes: Uint8Array,
  { starts, weights, groups }: PassTaps,
  source: Rows,
  target: Rows,
  rows: number,
): void {
  const count = groups * 4;
  for (let y = 0; y < rows; y++) {
    const from = source.at + y * source.stride;
    const to = target.at + y * target.stride;
    for (let x = 0, w = 0; x < starts.length; x++) {
      let sum = HALF;
      for (let s = from + starts[x]!, end = w + count; w < end; w++, s++) sum += weights[w]! * bytes[s]!;
      bytes[to + x] = clip(sum);
    }
  }
}

/** Leaves the fourth byte of a pixel as it is: nothing reads it. */
function horizontal3(
  bytes: Uint8Array,
  { starts, weights, groups }: PassTaps,
  source: Rows,
  target: Rows,
  rows: number,
  step: number,
): void {
  const count = groups * 4;
  for (let y = 0; y < rows; y++) {
    const from = source.at + y * source.stride;
    let to = target.at + y * target.stride;
    for (let x = 0, w = 0; x < starts.length; x++, to += step) {
      let a = HALF;
      let b = HALF;
      let c = HALF;
      for (let s = from + starts[x]!, end = w + count; w < end; w++, s += step) {
        const weight = weights[w]!;
        a += weight * bytes[s]!;
        b += weight * bytes[s + 1]!;
        c += weight * bytes[s + 2]!;
      }
      bytes[to] = clip(a);
      bytes[to + 1] = clip(b);
      bytes[to + 2] = clip(c);
    }
  }
}

function vertical(
  bytes: Uint8Array,
  { starts, weights, groups }: PassTaps,
  { at, stride }: Rows,
  target: Rows,
  rows: number,
): void {
  const count = groups * 4;
  const sums = new Int32Array(stride);
  for (let y = 0; y < rows; y++) {
    sums.fill(HALF);
    // Row by row, since reading down a column would miss the cache at every step.
    for (let t = 0; t < count; t++) {
      const weight = weights[y * count + t]!;
      if (weight === 0) continue;
      const row = at + starts[y]! + t * stride;
      for (let x = 0; x < stride; x++) sums[x]! += weight * bytes[row + x]!;
    }
    for (let x = 0, to = target.at + y * stride; x < stride; x++) bytes[to + x] = clip(sums[x]!);
  }
}

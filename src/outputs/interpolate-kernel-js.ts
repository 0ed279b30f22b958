/** The interpolation kernel in plain JavaScript. */
import type { InterpolateKernel } from './interpolate-kernel.js';

export function createJsInterpolateKernel(): InterpolateKernel {
  let memory = new ArrayBuffer(0);
  let integers = new Int32Array(memory);
  let floats = new Float32Array(memory);
  let doubles = new Float64Array(memory);
  const sample = (above: number, below: number, weight: number, target: Float64Array | Float32Array): void => {
    const [a, b] = [above >> 3, below >> 3];
    for (let i = 0; i < target.length; i++) target[i] = doubles[a + i]! + (doubles[b + i]! - doubles[a + i]!) * weight;
  };
  return {
    name: 'js',
    memory(bytes) {
      if (memory.byteLength < bytes) {
        memory = new ArrayBuffer((bytes + 7) & ~7);
        integers = new Int32Array(memory);
        floats = new Float32Array(memory);
        doubles = new Float64Array(memory);
      }
      return memory;
    },
    pairs(source, step, count, target) {
      for (let i = 0, from = source >> 2, to = target >> 3; i < count; i++, from += step >> 2, to += 2) {
        doubles[to] = floats[from]!;
        doubles[to + 1] = floats[from + (step >> 2)]! - floats[from]!;
      }
    },
    across(pairs, left, weight, count, target) {
      const [l, w, to] = [left >> 2, weight >> 3, target >> 3];
      for (let i = 0; i < count; i++) {
        const at = (pairs + integers[l + i]!) >> 3;
        doubles[to + i] = doubles[at]! + doubles[at + 1]! * doubles[w + i]!;
      }
    },
    down(above, below, weight, count, target) {
      sample(above, below, weight, doubles.subarray(target >> 3, (target >> 3) + count));
    },
    downToFloats(above, below, weights, rows, count, target, stride) {
      for (let row = 0; row < rows; row++) {
        const to = (target + row * stride) >> 2;
        sample(above, below, doubles[(weights >> 3) + row]!, floats.subarray(to, to + count));
      }
    },
  };
}

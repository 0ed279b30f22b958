/**
 * The color kernel in plain JavaScript.
 */
import type { ColorKernel } from './color-kernel.js';

const HALF = 1 << 15;

export function createJsColorKernel(): ColorKernel {
  let memory = new Uint8Array(0);
  let clamped = new Uint8ClampedArray(memory.buffer);
  let wide = new Uint16Array(memory.buffer);
  return {
    name: 'js',
    memory(bytes) {
      if (memory.length < bytes) {
        memory = new Uint8Array((bytes + 1) & ~1);
        clamped = new Uint8ClampedArray(memory.buffer);
        wide = new Uint16Array(memory.buffer);
      }
      return memory;
    },
    upsample(near, far, count, left, right, sums, target) {
      const first = sums >> 1;
      for (let i = 0; i < count; i++) wide[first + 1 + i] = 3 * memory[near + i]! + memory[far + i]!;
      wide[first] = wide[first + 1]!;
      wide[first + count + 1] = wide[first + count]!;
      for (let i = first + 1, to = target; i <= first + count; i++, to += 2) {
        const here = 3 * wide[i]!;
        memory[to] = (here + wide[i - 1]! + left) >> 4;
        memory[to + 1] = (here + wide[i + 1]! + right) >> 4;
      }
    },
    convert(y, u, v, count, target) {
      for (let i = 0, to = target; i < count; i++, to += 4) {
        const l = memory[y + i]!;
        const b = memory[u + i]! - 128;
        const r = memory[v + i]! - 128;
        clamped[to] = l + ((91881 * r + HALF) >> 16);
        clamped[to + 1] = l + ((-22554 * b - 46802 * r + HALF) >> 16);
        clamped[to + 2] = l + ((116130 * b + HALF) >> 16);
      }
    },
  };
}

/**
 * The video kernel in plain JavaScript.
 */
import type { VideoKernel } from './video-kernel.js';

export function createJsVideoKernel(): VideoKernel {
  let memory = new Uint8ClampedArray(0);
  return {
    name: 'js',
    memory(bytes) {
      if (memory.length < bytes) memory = new Uint8ClampedArray(bytes);
      return new Uint8Array(memory.buffer);
    },
    convert(y, u, v, interleaved, count, target, gain, bias, blueU, greenU, greenV, redV) {
      for (let i = 0, to = target; i < count; i++, to += 4) {
        const l = ((memory[y + i]! * 257 * gain) >>> 16) + bias;
        const at = i >> 1;
        const b = (interleaved ? memory[u + 2 * at]! : memory[u + at]!) - 128;
        const r = (interleaved ? memory[u + 2 * at + 1]! : memory[v + at]!) - 128;
        memory[to] = (l + redV * r) >> 6;
        memory[to + 1] = (l - greenU * b - greenV * r) >> 6;
        memory[to + 2] = (l + blueU * b) >> 6;
      }
    },
  };
}

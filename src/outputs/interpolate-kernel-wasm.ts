/** The interpolation kernel on WebAssembly SIMD (`interpolate.wat`). */
import { bytesOf, instantiate } from '../shared/wasm-kernel.js';
import type { InterpolateKernel } from './interpolate-kernel.js';
import { INTERPOLATE_WASM } from './interpolate.wasm.js';

interface Exports extends Pick<InterpolateKernel, 'pairs' | 'across' | 'down' | 'downToFloats'> {
  readonly memory: WebAssembly.Memory;
}

/** Creates a kernel; undefined where WebAssembly or its SIMD is missing, or a Content Security Policy forbids it. */
export function createWasmInterpolateKernel(): InterpolateKernel | undefined {
  const exports = instantiate<Exports>(INTERPOLATE_WASM);
  if (!exports) return undefined;
  const { memory, pairs, across, down, downToFloats } = exports;
  return { name: 'wasm', memory: (bytes) => bytesOf(memory, bytes).buffer, pairs, across, down, downToFloats };
}

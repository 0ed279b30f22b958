/**
 * The color kernel on WebAssembly SIMD.
 */
import { bytesOf, instantiate } from '../../shared/wasm-kernel.js';
import type { ColorKernel } from './color-kernel.js';
import { YCC_WASM } from './ycc.wasm.js';

interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly upsample: ColorKernel['upsample'];
  readonly convert: ColorKernel['convert'];
}

/** Creates a kernel; undefined where WebAssembly or its SIMD is missing, or a Content Security Policy forbids it. */
export function createWasmColorKernel(): ColorKernel | undefined {
  const exports = instantiate<Exports>(YCC_WASM);
  if (!exports) return undefined;
  const { memory, upsample, convert } = exports;
  return { name: 'wasm', memory: (bytes) => bytesOf(memory, bytes), upsample, convert };
}

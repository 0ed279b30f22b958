/**
 * The kernel on WebAssembly SIMD.
 */
import type { Kernel } from './kernel.js';
import { YCC_WASM } from './ycc.wasm.js';

const PAGE = 65536;

interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly upsample: Kernel['upsample'];
  readonly convert: Kernel['convert'];
}

/** Undefined where WebAssembly or its SIMD is missing, or a content security policy forbids it. */
export function createWasmKernel(): Kernel | undefined {
  let exports: Exports;
  try {
    const bytes = Uint8Array.from(atob(YCC_WASM), (character) => character.charCodeAt(0));
    exports = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports as unknown as Exports;
  } catch {
    return undefined;
  }
  const { memory, upsample, convert } = exports;
  return {
    name: 'wasm',
    memory(bytes) {
      const missing = bytes - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
      return new Uint8Array(memory.buffer);
    },
    upsample,
    convert,
  };
}

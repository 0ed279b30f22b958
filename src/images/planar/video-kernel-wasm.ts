/**
 * The video kernel on WebAssembly SIMD (`video.wat`).
 */
import { bytesOf, instantiate } from '../../shared/wasm-kernel.js';
import type { VideoKernel } from './video-kernel.js';
import { VIDEO_WASM } from './video.wasm.js';

interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly convert: VideoKernel['convert'];
}

/** Creates a kernel; undefined where WebAssembly or its SIMD is missing, or a Content Security Policy forbids it. */
export function createWasmVideoKernel(): VideoKernel | undefined {
  const exports = instantiate<Exports>(VIDEO_WASM);
  if (!exports) return undefined;
  const { memory, convert } = exports;
  return { name: 'wasm', memory: (bytes) => bytesOf(memory, bytes), convert };
}

import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import { env } from '@tensorflow/tfjs-core';
import type { Engine, EngineEnvironment } from '../engine.js';
import { createEngine, startBackend } from './engine.js';

/** TensorFlow.js on WASM with SIMD. One thread: its threads are started from a `blob:`, and break when they are minified. */
export async function start({ assets }: EngineEnvironment): Promise<Engine> {
  env().set('WASM_HAS_MULTITHREAD_SUPPORT', false);
  const bundled = new URL('@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm', import.meta.url);
  const { href } = assets === undefined ? bundled : new URL('tfjs-backend-wasm-simd.wasm', assets);
  // Vite's dev server leaves our name of the file unresolved where it has bundled us as a dependency.
  const wasm = href.replace(/\/\.vite\/deps[^/]*\/(?=@tensorflow\/)/, '/');
  setWasmPaths({ 'tfjs-backend-wasm.wasm': wasm, 'tfjs-backend-wasm-simd.wasm': wasm, 'tfjs-backend-wasm-threaded-simd.wasm': wasm });
  try {
    await startBackend('wasm');
  } catch (cause) {
    // What it throws is no Error.
    throw new Error(`${wasm} could not be loaded: ${(cause as Error).message}`, { cause });
  }
  return createEngine({ name: 'wasm', maxInteger: 2 ** 31 });
}

import { setWasmPaths, type BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import { env } from '@tensorflow/tfjs-core';
import { TabServeError } from '../../contract/errors.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { createEngine, startBackend } from './engine.js';

/** TensorFlow.js on WASM with SIMD. One thread: its threads are started from a `blob:`, and break when they are minified. */
export async function start({ assets }: EngineEnvironment): Promise<Engine> {
  env().set('WASM_HAS_MULTITHREAD_SUPPORT', false);
  const bundled = new URL('@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm', import.meta.url);
  const { href } = assets === undefined ? bundled : new URL('tfjs-backend-wasm-simd.wasm', assets);
  // Vite's dev server leaves our name of the file unresolved where it has bundled us as a dependency.
  const wasm = href.replace(/\/\.vite\/deps[^/]*\/(?=@tensorflow\/)/, '/');
  setWasmPaths({
    'tfjs-backend-wasm.wasm': wasm,
    'tfjs-backend-wasm-simd.wasm': wasm,
    'tfjs-backend-wasm-threaded-simd.wasm': wasm,
  });
  const backend = await startBackend<BackendWasm>('wasm').catch((cause: unknown) => {
    // What it throws is no Error.
    throw new Error(`${wasm} could not be loaded: ${(cause as Error).message}`, { cause });
  });
  const module = backend.wasm as unknown as Memory;
  refuseNull(module);
  return createEngine({ name: 'wasm', maxInteger: 2 ** 31, memory: () => module.HEAPU8.byteLength });
}

interface Memory {
  /** Another one whenever it has grown. */
  readonly HEAPU8: Uint8Array;
  _malloc(size: number): number;
  _free(address: number): void;
}

/** Where memory has run out, `malloc` answers 0, which TensorFlow.js takes for an address and writes to; a size beyond 32 bits it takes for a small one. */
function refuseNull(memory: Memory): void {
  // Its first call puts another function in its place.
  memory._free(memory._malloc(1));
  const malloc = memory._malloc;
  memory._malloc = (size) => {
    const address = size < 2 ** 32 ? malloc(size) : 0;
    if (address === 0 && size > 0) throw new TabServeError('out-of-memory', `WASM has no ${size} bytes left.`);
    return address;
  };
}

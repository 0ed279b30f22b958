import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import { TabServeError } from '../../../contract/errors.js';
import type { CompiledFile } from '../../../contract/wire.js';
import type { Engine } from '../engine.js';
import { bytesFor } from '../wasm-module.js';
import { createEngine, startBackend } from './engine.js';
import type { Libraries, TensorFlow } from './libraries.js';

type Library = Pick<typeof import('@tensorflow/tfjs-backend-wasm'), 'setWasmPaths'>;

/**
 * Starts TensorFlow.js on WASM with SIMD, with one thread: its threads start from a `blob:` URL, and break in minified
 * code.
 */
export async function start(libraries: Promise<Libraries<Library>>, compiled: Promise<CompiledFile>): Promise<Engine> {
  const [{ tensorflow, library }, { url, module }] = await Promise.all([libraries, compiled]);
  tensorflow.core.env().set('WASM_HAS_MULTITHREAD_SUPPORT', false);
  library.setWasmPaths(
    {
      'tfjs-backend-wasm.wasm': url,
      'tfjs-backend-wasm-simd.wasm': url,
      'tfjs-backend-wasm-threaded-simd.wasm': url,
    },
    true,
  );
  provide(tensorflow, url, module);
  const backend = await startBackend<BackendWasm>(tensorflow, 'wasm').catch((cause: unknown) => {
    // TensorFlow.js throws a value that is not an Error.
    throw new Error(`TensorFlow.js could not be started on WASM: ${(cause as Error).message}`, { cause });
  });
  const memory = backend.wasm as unknown as Memory;
  refuseNull(memory);
  return createEngine(tensorflow, { name: 'wasm', maxInteger: 2 ** 31, memory: () => memory.HEAPU8.byteLength });
}

/** Makes TensorFlow.js instantiate the module instead of downloading its file. */
function provide({ core }: TensorFlow, url: string, module: WebAssembly.Module): void {
  const { platform } = core.env();
  const download = platform.fetch.bind(platform);
  const response = { ok: true, arrayBuffer: () => Promise.resolve(bytesFor(module)) } as Response;
  platform.fetch = (path, ...rest) => (path === url ? Promise.resolve(response) : download(path, ...rest));
}

interface Memory {
  /** The memory's bytes: a new array after each growth. */
  readonly HEAPU8: Uint8Array;
  _malloc(size: number): number;
  _free(address: number): void;
}

/**
 * Throws if memory has run out. Otherwise TensorFlow.js would write to address 0, which `malloc` returns then; it would
 * also truncate sizes beyond 32 bits.
 */
function refuseNull(memory: Memory): void {
  // The first call replaces the function.
  memory._free(memory._malloc(1));
  const malloc = memory._malloc;
  memory._malloc = (size) => {
    const address = size < 2 ** 32 ? malloc(size) : 0;
    if (address === 0 && size > 0)
      throw new TabServeError('out-of-memory', `WebAssembly memory has no ${size} bytes left.`);
    return address;
  };
}

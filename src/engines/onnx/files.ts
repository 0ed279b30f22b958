import type { Env } from 'onnxruntime-web';
import type { EngineEnvironment } from '../engine.js';
import { bytesFor, compileWasm } from '../wasm-module.js';

/** The two files of one build. */
export interface EngineFiles {
  /** Their name in a folder of the app's, without the ending. */
  readonly name: string;
  /** Size of the `.wasm`. */
  readonly bytes: number;
  /** Where the bundler placed them. */
  readonly wasm: () => URL;
  readonly mjs: () => URL;
}

/**
 * Downloads and compiles ONNX Runtime's `.wasm`, and sets where its other files are. The glue (`.mjs`) is bundled with us; only threads need it as a file
 * of its own, since otherwise each of them would download and run the worker's own script.
 *
 * Vite's dev server leaves our URLs of the files unresolved where it has bundled us as a dependency; there ONNX Runtime finds its `.wasm` by itself, for one thread.
 * @returns the threads that there will be
 * @throws `backend-failed` if the `.wasm` cannot be loaded
 */
export async function provideFiles(env: Env, environment: EngineEnvironment, files: EngineFiles): Promise<number> {
  const { assets, threads } = environment;
  const wasm = assets === undefined ? files.wasm() : new URL(`${files.name}.wasm`, assets);
  const placed = assets !== undefined || !UNRESOLVED.test(wasm.pathname);
  env.wasm.numThreads = placed ? threads : 1;
  if (!placed) return 1;
  if (threads > 1)
    env.wasm.wasmPaths = { mjs: assets === undefined ? files.mjs() : new URL(`${files.name}.mjs`, assets) };
  env.wasm.wasmBinary = bytesFor(
    await compileWasm(wasm, { name: `${files.name}.wasm`, bytes: files.bytes }, environment),
  );
  return threads;
}

/** In the package itself the files are in `dist/`: its `exports` say so. */
const UNRESOLVED = /\/onnxruntime-web\/ort-[^/]*$/;

import type { Env } from 'onnxruntime-web';

/** The two files of one build: where the bundler placed them, and their name in a folder of the app's. */
export interface EngineFiles {
  readonly name: string;
  readonly wasm: () => URL;
  readonly mjs: () => URL;
}

/**
 * Tells ONNX Runtime where its files are. The glue (`.mjs`) is bundled with us; only threads need it as a file of its own,
 * else each of them would fetch and run the worker's own script.
 *
 * Vite's dev server leaves our names of the files unresolved where it has bundled us as a dependency; there ONNX Runtime finds its `.wasm` by itself, for one thread.
 * @returns the threads that there will be
 */
export function place(env: Env, assets: string | undefined, threads: number, files: EngineFiles): number {
  const wasm = assets === undefined ? files.wasm() : new URL(`${files.name}.wasm`, assets);
  const mjs = assets === undefined ? files.mjs : () => new URL(`${files.name}.mjs`, assets);
  const placed = assets !== undefined || !UNRESOLVED.test(wasm.pathname);
  env.wasm.numThreads = placed ? threads : 1;
  if (placed) env.wasm.wasmPaths = threads > 1 ? { wasm, mjs: mjs() } : { wasm };
  return env.wasm.numThreads;
}

/** In the package itself the files are in `dist/`: its `exports` say so. */
const UNRESOLVED = /\/onnxruntime-web\/ort-[^/]*$/;

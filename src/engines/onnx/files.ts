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
 */
export function place(env: Env, assets: string | undefined, threads: number, files: EngineFiles): void {
  env.wasm.numThreads = threads;
  const wasm = assets === undefined ? files.wasm() : new URL(`${files.name}.wasm`, assets);
  const mjs = assets === undefined ? files.mjs : () => new URL(`${files.name}.mjs`, assets);
  env.wasm.wasmPaths = threads > 1 ? { wasm, mjs: mjs() } : { wasm };
}

import type { Env } from 'onnxruntime-web';
import type { EngineEnvironment } from '../engine.js';
import { npmFile } from '../npm-file.js';
import { bytesFor, compileWasm } from '../wasm-module.js';

/** The two files of one build. */
export interface EngineFiles {
  /** The files' name in the app's folder of assets, without the extension. */
  readonly name: string;
  /** Size of the `.wasm`, in bytes. */
  readonly bytes: number;
  /** The URLs at which the bundler placed the files. */
  readonly wasm: () => URL;
  readonly mjs: () => URL;
}

/**
 * Downloads and compiles ONNX Runtime's `.wasm`, and sets the URL of its glue code (`.mjs`). The glue code is bundled with TabServe; only threads need
 * it as a file of its own, because otherwise each thread would download and run the worker's own script.
 * @returns the number of threads
 * @throws `backend-failed` if the `.wasm` cannot be loaded
 */
export async function provideFiles(env: Env, environment: EngineEnvironment, files: EngineFiles): Promise<number> {
  const { assets, threads } = environment;
  const wasm = assets === undefined ? npmFile(files.wasm()) : new URL(`${files.name}.wasm`, assets);
  env.wasm.numThreads = threads;
  if (threads > 1)
    env.wasm.wasmPaths = { mjs: assets === undefined ? npmFile(files.mjs()) : new URL(`${files.name}.mjs`, assets) };
  env.wasm.wasmBinary = bytesFor(
    await compileWasm(wasm, { name: `${files.name}.wasm`, bytes: files.bytes, version: versionOf(env) }, environment),
  );
  return threads;
}

/** Returns ONNX Runtime's version. */
export function versionOf({ versions }: Env): string {
  return versions.web ?? versions.node ?? versions.common;
}

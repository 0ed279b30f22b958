import type { Env } from 'onnxruntime-web';
import type { Load } from '../../libraries/load.js';
import type { EngineEnvironment } from '../engine.js';
import { npmFile } from '../npm-file.js';
import { bytesFor, compileWasm } from '../wasm-module.js';
import { usableThreads } from './thread-script.js';

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

/** ONNX Runtime's version, by which its `.wasm` is cached: it must be known before ONNX Runtime is loaded. */
const VERSION = '1.30.0';

/** A build that can create sessions. */
export interface LoadedBuild<Ort> {
  readonly ort: Ort;
  readonly threads: number;
}

/**
 * Loads a build of ONNX Runtime: side by side, its script, and its `.wasm`, which is downloaded and compiled. Sets the
 * URL of its glue code (`.mjs`), which is bundled with TabServe; only threads need it as a file of its own, because
 * otherwise each thread would download and run the worker's own script.
 * @throws `worker-failed` if its script cannot be loaded; `backend-failed` if the `.wasm` cannot
 */
export async function loadBuild<Ort extends { readonly env: Env }>(
  load: Load<Ort>,
  environment: EngineEnvironment,
  files: EngineFiles,
): Promise<LoadedBuild<Ort>> {
  const { assets } = environment;
  const url = assets === undefined ? npmFile(files.wasm()) : new URL(`${files.name}.wasm`, assets);
  const file = { name: `${files.name}.wasm`, bytes: files.bytes, version: VERSION };
  const script = (): URL => (assets === undefined ? npmFile(files.mjs()) : new URL(`${files.name}.mjs`, assets));
  const [ort, module, { threads, mjs }] = await Promise.all([
    load(assets),
    compileWasm(url, file, environment),
    Promise.resolve(environment.threads).then((wanted) => usableThreads(wanted, script, environment)),
  ]);
  const { wasm } = ort.env;
  wasm.numThreads = threads;
  if (mjs !== undefined) wasm.wasmPaths = { mjs };
  wasm.wasmBinary = bytesFor(module);
  return { ort, threads };
}

/** Returns ONNX Runtime's version. */
export function versionOf({ versions }: Env): string {
  return versions.web ?? versions.node ?? versions.common;
}

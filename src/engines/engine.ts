import type { EngineOptions, FileProgress, Files } from '../contract/archive.js';
import type { CandidateName } from '../contract/backends.js';
import type { Session } from '../contract/tensors.js';

/** What an engine needs to start. */
export interface EngineEnvironment {
  /** URL of a folder that holds the engine's files; undefined where the bundler has placed them. */
  readonly assets: string | undefined;
  /** Threads to compute with, at most. */
  readonly threads: number;
  /** Called when the GPU is lost, whether or not anything runs. */
  readonly onLost: (why: string) => void;
  /** Called while the engine's `.wasm` is downloaded. Its scripts, which the browser imports, are not counted. */
  readonly onProgress?: (progress: FileProgress) => void;
  /** @default `globalThis.fetch` */
  readonly fetch?: typeof fetch;
}

/** An engine, started on one backend. It makes one call at a time, whether it creates, runs or releases a session. */
export interface Engine {
  readonly version: string;
  /** Threads that it computes with. */
  readonly threads: number;
  /** Returns the bytes that it holds: of WebAssembly memory if it computes there, otherwise of its tensors. */
  memory(): number;
  /**
   * Opens the model at `path`, and the files that the model names.
   * @throws `model-not-found` if a file is missing; `model-format` if it is no model; `unsupported` for a dtype that the engine lacks; `backend-failed` if this backend cannot run it; `out-of-memory`
   */
  open(files: Files, path: string, options: EngineOptions): Promise<Session>;
}

/** Downloads and starts an engine. @throws `backend-failed` */
export type EngineLoader = (environment: EngineEnvironment) => Promise<Engine>;

/** The engines that a worker can start. */
export type Engines = Readonly<Partial<Record<CandidateName, EngineLoader>>>;

import type { BlobFiles, EngineOptions, FileProgress } from '../../contract/archive.js';
import type { CandidateName, GraphNodes, PowerPreference } from '../../contract/backends.js';
import type { RemoteServer } from '../../contract/remote.js';
import type { CompiledFile } from '../../contract/wire.js';
import type { OpenOptions, Session } from '../../contract/tensors.js';

/** Called with the bytes of a download so far. */
export type OnBytes = (loaded: number, total: number | undefined) => void;

/** Options of starting an engine. */
export interface EngineEnvironment {
  /** URL of a folder that holds the engine's files; undefined if the bundler has placed them. */
  readonly assets: string | undefined;
  /**
   * The maximum number of threads to compute with: a promise while the archive's config, which may name a number, is still being
   * read.
   */
  readonly threads: number | Promise<number>;
  /** Called when the GPU is lost, whether or not anything runs. */
  readonly onLost: (why: string) => void;
  /** Called with a problem that does not stop anything. */
  readonly warn?: (message: string) => void;
  /** Called while the engine's `.wasm` is downloaded. Its scripts, which the browser imports, are not counted. */
  readonly onProgress?: (progress: FileProgress) => void;
  /** The server of models that the app has named. */
  readonly remote?: RemoteServer | undefined;
  /** Which GPU to ask the browser for. @default `high-performance`; on WebGL what the browser chooses */
  readonly powerPreference?: PowerPreference | undefined;
  /** @default `globalThis.fetch` */
  readonly fetch?: typeof fetch;
  /**
   * Returns a file from the cache, where URL and version name it for good; or calls `download`, and stores what it
   * returns, as it does if the file in the cache is damaged. Undefined if nothing is cached for the next visit.
   */
  readonly cached?:
    | ((
        file: { readonly url: string; readonly version: string; readonly isDamaged?: boolean | undefined },
        download: (onBytes: OnBytes) => Promise<Blob>,
        onBytes: OnBytes,
      ) => Promise<Blob | undefined>)
    | undefined;
  /**
   * The engine's `.wasm` as an earlier worker of the page has compiled it. It is used if URL and version are the same.
   */
  readonly compiled?: CompiledFile | undefined;
  /** Called with the engine's `.wasm` when it was compiled here. */
  readonly onCompiled?: (compiled: CompiledFile) => void;
}

/** An engine, started on one backend. It makes one call at a time, whether it creates, runs or releases a session. */
export interface Engine {
  readonly version: string;
  /** Number of threads that it computes with. */
  readonly threads: number;
  /** Where the nodes of the models run that it has opened; undefined if it does not know. */
  readonly nodes?: GraphNodes | undefined;
  /**
   * Returns the engine's memory in bytes: its WebAssembly memory, or its tensors if it does not compute in WebAssembly.
   */
  memory(): number;
  /**
   * Opens the model at `path`, and the files that the model names; or the model of that name on a server.
   * @throws `model-not-found` if a file is missing; `model-format` if it is not a model; `unsupported` for a dtype that
   *   the engine lacks; `backend-failed` if this backend cannot run it; `out-of-memory`
   * @param reads what its handler reads of the outputs, which an engine may use
   */
  open(files: BlobFiles, path: string, options: EngineOptions, reads?: OpenOptions): Promise<Session>;
}

/** Downloads and starts an engine. @throws `backend-failed` */
export type EngineLoader = (environment: EngineEnvironment) => Promise<Engine>;

/** The engines that a worker can start. */
export type Engines = Readonly<Partial<Record<CandidateName, EngineLoader>>>;

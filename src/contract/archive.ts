import type { EngineName } from './backends.js';

/** `MAR-INF/MANIFEST.json`, as TorchServe writes it. */
export interface Manifest {
  readonly createdOn?: string;
  readonly runtime?: string;
  readonly archiverVersion?: string;
  readonly model: {
    readonly modelName: string;
    readonly modelVersion?: string;
    readonly serializedFile?: string;
    readonly handler?: string;
    readonly modelFile?: string;
    readonly requirementsFile?: string;
    readonly configFile?: string;
    readonly extensions?: string;
  };
}

/** `model-config.yaml`. Keys are TorchServe's; `handler` belongs to the handler class, `engine` to the engine. */
export interface ModelConfig {
  readonly handler?: Readonly<Record<string, unknown>>;
  readonly engine?: EngineOptions;
  readonly [key: string]: unknown;
}

/** Options of the engine, for every backend alike. */
export interface EngineOptions {
  /** @default 'all' */
  readonly graphOptimizationLevel?: 'disabled' | 'basic' | 'extended' | 'all';
  /** Fixes symbolic dimensions: name → size. */
  readonly freeDimensions?: Readonly<Record<string, number>>;
  /** Threads on WASM. More than one needs cross-origin isolation. @default min(4, ⌈cores / 2⌉) */
  readonly threads?: number;
}

/** A model archive as downloaded: the page keeps it, workers get it. */
export interface Archive {
  /** The URL that it came from. */
  readonly url: string;
  readonly manifest: Manifest;
  readonly config: ModelConfig;
  /** The model in each format that the archive has it in: the path of its `.onnx`, or of its `model.json`. */
  readonly models: Readonly<Partial<Record<EngineName, string>>>;
  /** By path. Of a model in several formats, only those that an engine has asked for. */
  readonly files: Readonly<Record<string, Blob>>;
  /** Golden examples, by path: what a backend must answer before it is trusted. */
  readonly golden: readonly string[];
  /** What is known of files beforehand, by path. */
  readonly integrity: Readonly<Record<string, Integrity>>;
}

/** What a file must be. */
export interface Integrity {
  /** Its size. */
  readonly bytes?: number;
  /** SHA-256, in hexadecimal. */
  readonly sha256?: string;
}

/** Read access to an archive's files, by their path in it. */
export interface Files {
  has(path: string): boolean;
  /** @throws `model-not-found` if the archive has no such file; so do `text` and `json`. */
  bytes(path: string): Promise<Uint8Array>;
  text(path: string): Promise<string>;
  /** @throws `model-format` if the file is not JSON. */
  json(path: string): Promise<unknown>;
}

/** Bytes of one file of the archive. `total` is undefined while its size is unknown. */
export interface Progress {
  readonly file: string;
  readonly loaded: number;
  readonly total: number | undefined;
}

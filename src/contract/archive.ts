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

/** A model archive, as far as it is downloaded. The page keeps it and gives it to each worker. */
export interface Archive {
  /** The URL that it came from. */
  readonly url: string;
  readonly manifest: Manifest;
  readonly config: ModelConfig;
  /** The model in each format that the archive has it in: the path of its `.onnx`, or of its `model.json`. */
  readonly models: Readonly<Partial<Record<EngineName, string>>>;
  /** The files downloaded so far, by path. A model in several formats is downloaded in those that an engine has asked for. */
  readonly files: Readonly<Record<string, Blob>>;
  /** Golden examples, by path: what a backend must answer before it is trusted. */
  readonly golden: readonly string[];
  /** What differs for one engine's model, where `tabserve.json` says so. */
  readonly variants?: Readonly<Partial<Record<EngineName, ArchiveVariant>>>;
  /** The expected size and hash of files, by path. */
  readonly integrity: Readonly<Record<string, Integrity>>;
}

/** What an engine uses in place of the archive's own: its model may have another layout, or other names for its inputs and outputs. */
export interface ArchiveVariant {
  /** The whole config. */
  readonly config?: ModelConfig;
  readonly golden?: readonly string[];
}

/** Returns the archive as one engine sees it, with the config and the golden examples for its model. */
export function archiveFor(archive: Archive, engine: EngineName): Archive {
  return { ...archive, ...archive.variants?.[engine] };
}

/** The expected size and hash of a file. */
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

/** How much of one file has been downloaded: a file of the archive, or the engine's `.wasm`. */
export interface FileProgress {
  /** The file's path in the archive, or the name of the engine's file. */
  readonly file: string;
  readonly loaded: number;
  /** Undefined while the file's size is unknown. */
  readonly total: number | undefined;
}

/** Progress of one file, and of all files together. */
export interface Progress extends FileProgress {
  /** All files of the model and the engine. `total` is undefined until the size of each is known. */
  readonly overall: { readonly loaded: number; readonly total: number | undefined };
}

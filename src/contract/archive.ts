import type { ModelFormat } from './backends.js';
import type { Agreement, ModelFile, Precision } from './precisions.js';
import type { RemoteModel } from './remote.js';

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
  /** The archives of a workflow's nodes, by the node's name. */
  readonly nodes?: Readonly<Record<string, string | NodeConfig>>;
  readonly [key: string]: unknown;
}

/** Where the archive of a workflow's node is, and what overrides its contents. */
export interface NodeConfig {
  /** A folder, a packed archive or a model file: a path in the workflow's archive, or a URL. */
  readonly archive: string;
  /** The name of a built-in handler. */
  readonly handler?: string;
  /** Overrides the archive's own `model-config.yaml`. */
  readonly config?: ModelConfig;
}

/**
 * Precisions by the names of nodes.
 * @minProperties 1
 */
type Precisions = Readonly<Record<string, Precision>>;

/**
 * The size of a dimension.
 * @integer
 * @minimum 1
 * @maximum 134217728
 */
type DimensionSize = number;

/** Options of the engine. They apply to every backend. */
export interface EngineOptions {
  /** How far ONNX Runtime rewrites the graph before it runs. Default all. */
  readonly graphOptimizationLevel?: 'disabled' | 'basic' | 'extended' | 'all';
  /**
   * Sizes for the symbolic dimensions of the inputs, by name: a graph of known size is faster, and WebNN needs it.
   * A name that no input has is an error while a dimension is free.
   */
  readonly freeDimensions?: Readonly<Record<string, DimensionSize>>;
  /**
   * Threads on WASM; more than one needs cross-origin isolation. Default: half the cores, at most 4, and few
   * enough that each of maxWorkers workers has its own.
   * @integer
   * @minimum 1
   * @maximum 64
   */
  readonly threads?: number;
  /**
   * The precision of the weights, for a model that is there in several; for several models, one for all or one for
   * each by the node's name, such as { encoder: fp32, decoder: q4 }. In Hugging Face's layout: the file model.onnx
   * (fp32), model_fp16.onnx (fp16), model_quantized.onnx (q8), or model_ and the name. Default: what
   * transformers.js_config in its config.json says, otherwise what suits each backend (docs/hugging-face.md). In
   * an archive: what tabserve.json lists (docs/archives.md#several-precisions).
   */
  readonly dtype?: Precision | Precisions;
  /**
   * The model on a server, for the backend `remote`: its name and version there, the protocol, and where the
   * server does not describe its models, their inputs and outputs, each as { name, dtype, dims } with null for the
   * batch axis. Only the app says which server (docs/remote.md#protocols).
   * @schema {"type":"object"}
   */
  readonly remote?: RemoteModel;
}

/** A file of a repository. */
export interface HubFile {
  /** In the folder that is listed. */
  readonly path: string;
  readonly bytes: number;
  /** Names the content: Git's hash of it or, of a large file, its SHA-256. */
  readonly id: string;
}

/** A folder of a repository at one commit. */
export interface HubListing {
  /** The commit that the revision named when the Hub was asked. */
  readonly commit: string;
  readonly files: readonly HubFile[];
}

/** A model archive and its files downloaded so far. The page keeps it and gives it to each worker. */
export interface Archive {
  /** The archive's URL. */
  readonly url: string;
  readonly manifest: Manifest;
  readonly config: ModelConfig;
  /** The path of the model in each format that the archive has: its `.onnx`, or its `model.json`. */
  readonly models: Readonly<Partial<Record<ModelFormat, string>>>;
  /**
   * The files that a model may be in, one for each format and precision. In Hugging Face's layout, only a request shows
   * which of them a server has. `models` has the ones that were chosen for the last backend.
   */
  readonly alternatives?: readonly ModelFile[];
  /**
   * The files downloaded so far, by path. Of several formats of a model, only those that an engine needs are
   * downloaded.
   */
  readonly files: Readonly<Record<string, Blob>>;
  /**
   * Where the other files are, if the page has them: in a zip file, or by path; empty if nothing is left to read. Undefined
   * if they are in a folder on a server.
   */
  readonly local?: Blob | Readonly<Record<string, Blob>> | undefined;
  /** Whether it is a repository in Hugging Face's layout, which has no golden examples. */
  readonly isRepository?: true;
  /** The class that a repository's `config.json` names. */
  readonly architecture?: string;
  /** Of a repository of the Hub, which files it has. Undefined where the Hub did not say. */
  readonly listing?: HubListing | undefined;
  /** Paths of the golden examples. A backend must reproduce them before it serves. */
  readonly golden: readonly string[];
  /**
   * The archives of a workflow's nodes, by name. An archive that several nodes name is one object. A node may be a
   * workflow itself. See `config.nodes`.
   */
  readonly nodes?: Readonly<Record<string, Archive>>;
  /**
   * The archive of a node that lies inside of its workflow's archive: its folder there, with a slash at the end, or
   * `''`. Undefined for any other archive.
   */
  readonly root?: string;
  /** The precision of the model that an engine opens, if there are alternatives. `archiveFor` sets it. */
  readonly precision?: Precision;
  /** How far the outputs of that model must agree with the golden examples. @default within the tolerance */
  readonly agreement?: Agreement;
  /** Overrides for one engine's model, from `tabserve.json`. */
  readonly variants?: Readonly<Partial<Record<ModelFormat, ArchiveVariant>>>;
  /** The expected size and hash of files, by path. */
  readonly integrity: Readonly<Record<string, Integrity>>;
  /** A warning: the handler that the caller has chosen is for another task than the model. */
  readonly contradiction?: string;
  /**
   * The handler of the model's class, by its name, where nobody has chosen one and no test of ours compares the class
   * with Python. The manifest names the class then.
   */
  readonly likelyHandler?: string;
  /** A warning: no test of ours compares the class of the model with Python. */
  readonly uncompared?: string;
  /**
   * Paths in `integrity` that no file has had so far: they may be weights of a format that no engine has needed yet.
   */
  readonly unmatched?: readonly string[];
}

/**
 * Overrides the archive's config and golden examples for one engine, whose model may have another layout or other names
 * of inputs and outputs.
 */
export interface ArchiveVariant {
  /** The whole config. */
  readonly config?: ModelConfig;
  readonly golden?: readonly string[];
  readonly agreement?: Agreement;
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

/** Files that can also be read in parts. */
export interface BlobFiles extends Files {
  /** @throws `model-not-found` */
  blob(path: string): Promise<Blob>;
  /** Returns the URL that the file was read from; undefined for a file that was unpacked or picked. */
  url?(path: string): URL | undefined;
}

/**
 * What is done with a file: it is downloaded, compared with its hash, or compiled by an engine. `warm-up`: the model
 * runs for the first time.
 */
export type FilePhase = 'download' | 'verify' | 'compile' | 'warm-up';

/** The download progress of one file: a file of the archive, or the engine's `.wasm`. */
export interface FileProgress {
  /** The file's path in the archive, or the name of the engine's file. */
  readonly file: string;
  readonly loaded: number;
  /** Undefined while the file's size is unknown. */
  readonly total: number | undefined;
  readonly phase: FilePhase;
}

/** The download progress of one file, and of all files together. */
export interface Progress extends FileProgress {
  /**
   * All files of the model and the engine. `total` is undefined until the size of each is known; it grows if another
   * engine is needed. `fraction`, in 0..1, is what a progress bar shows: it never falls, and is undefined until `total`
   * was known.
   */
  readonly overall: {
    readonly loaded: number;
    readonly total: number | undefined;
    readonly fraction: number | undefined;
  };
}

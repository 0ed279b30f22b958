/**
 * What crosses between page and worker, and how: types only, but for the protocol's number.
 */
import type { Archive, FileProgress, ModelConfig } from './archive.js';
import type { CandidateName, EngineName, Probe } from './backends.js';
import type { Context, ModelInfo, Params } from './handler.js';
import type { Observation } from './metrics.js';
import type { Timings } from './stages.js';
import type { Tensors } from './tensors.js';

/** A page and a worker of different protocols refuse each other. */
export const PROTOCOL = 6;

/** The worker's first message, sent when it can listen. */
export interface ReadyMessage {
  readonly tabserve: 'ready';
  readonly protocol: number;
}

/** The page's only message to the worker itself; all else goes through the ports. */
export interface ConnectMessage {
  readonly tabserve: 'connect';
  /** For calls to the `WorkerApi`, through comlink. */
  readonly calls: MessagePort;
  /** For `WorkerEvent`s. */
  readonly events: MessagePort;
  /** A Web Lock that the worker holds as long as it lives. */
  readonly life: string;
}

/** What the worker tells unasked; `held`: it holds its lock; `unreadable`: a message came that it cannot read; `heartbeat`: it is getting on; `lost`: its GPU is gone. */
export type WorkerEvent =
  | { readonly type: 'held' | 'unreadable' }
  /** With a batch's id, that one; without, the worker as a whole. */
  | { readonly type: 'heartbeat'; readonly id: string | undefined }
  | { readonly type: 'lost'; readonly why: string }
  /** `planned`: this worker will download no files but those that it has told of. */
  | { readonly type: 'progress'; readonly progress: FileProgress; readonly planned: boolean };

/** How an answer crosses: errors are data, because the handlers with which comlink carries errors belong to the app. */
export type Envelope<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

/** What the worker offers to the page. */
export interface WorkerApi {
  /** @param known by an earlier worker of this page: then nothing is looked at again */
  probe(
    known: Probe | undefined,
  ): Promise<Envelope<{ readonly probe: Probe; readonly built: readonly CandidateName[] }>>;
  /** Returns the archive with what choosing a backend needs: manifest, config and labels. The download of its other files begins. */
  load(request: LoadRequest): Promise<Envelope<Archive>>;
  /**
   * Downloads the model in the candidate's format, and meanwhile downloads and starts the candidate's engine, for `open`.
   * Returns the archive with every file that the candidate needs; files that it has already are not downloaded again.
   */
  loadModel(archive: Archive, start: StartRequest): Promise<Envelope<Archive>>;
  open(request: OpenRequest): Promise<Envelope<Opened>>;
  /** Runs the model on the inputs that backends are compared on. Empty if no input can be generated. */
  sample(): Promise<Envelope<readonly Sample[]>>;
  /** Runs the model on another worker's inputs, and compares the outputs. */
  compare(samples: readonly Sample[]): Promise<Envelope<Comparison>>;
  /** Takes about `budget` ms. Undefined where there is nothing to run the model on. */
  measure(budget: number): Promise<Envelope<Measured | undefined>>;
  /** SHA-256 of the model's files; undefined in an insecure context. */
  hash(archive: Archive, engine: EngineName): Promise<Envelope<string | undefined>>;
  handle(request: HandleRequest): Promise<Envelope<HandleAnswer>>;
  cancel(id: string): void;
  /** What the handler knows of its model. @throws `not-cloneable` for what of its own cannot be sent */
  describe(): Promise<Envelope<ModelInfo>>;
  ping(): Promise<Envelope<void>>;
}

export interface LoadRequest {
  /** A URL, or a file of the visitor's. */
  readonly source: string | File;
  readonly config: ModelConfig | undefined;
}

/** Which engine to start, and on which backend. */
export interface StartRequest {
  readonly candidate: CandidateName;
  /** URL of a folder with the engine's files; undefined where the bundler has placed them. */
  readonly assets: string | undefined;
}

export interface OpenRequest extends StartRequest {
  readonly archive: Archive;
  /** A built-in handler's name; undefined for the manifest's, or where the worker exposes a class of its own. */
  readonly handler: string | undefined;
}

export interface Opened extends Tried {
  readonly threads: number;
  /** Of the engine. */
  readonly version: string;
}

/** What a model's first runs have shown. */
export interface Tried {
  /** Golden examples that it answered correctly, and its largest difference from them. */
  readonly golden: number;
  readonly error: number;
  /** Why its outputs should be compared with the reference. */
  readonly suspicion: string | undefined;
}

/** A run of the model. */
export interface Sample {
  readonly feeds: Tensors;
  readonly outputs: Tensors;
}

/** How another worker's outputs differ from this one's. */
export interface Comparison {
  /** Inputs that were compared. */
  readonly inputs: number;
  /** The largest absolute difference. */
  readonly error: number;
  /** What is wrong, in words; undefined if every output is within tolerance. */
  readonly wrong?: string | undefined;
}

export interface Measured {
  /** Milliseconds. */
  readonly median: number;
  readonly runs: number;
}

/** A batch. */
export interface HandleRequest {
  readonly id: string;
  readonly request: Exclude<Context['request'], 'describe'>;
  readonly rows: readonly unknown[];
  /** One a row, and so are `params`. */
  readonly ids: readonly string[];
  readonly params: readonly Params[];
}

export interface HandleAnswer {
  readonly rows: readonly Envelope<unknown>[];
  /** Why the batch failed as a whole; then there are no rows. */
  readonly failure?: unknown;
  readonly timings: Timings;
  /** Milliseconds in the handler. */
  readonly handlerTime: number;
  /** What the handler has recorded, where it has recorded anything. */
  readonly metrics?: readonly Observation[];
  /** Bytes that the engine holds. */
  readonly memory: number;
}

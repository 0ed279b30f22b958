/**
 * The messages between page and worker: only types, and the protocol's number.
 */
import type { Archive, FileProgress, ModelConfig } from './archive.js';
import type { Assessed } from './assessment.js';
import type { Precision } from './precisions.js';
import type { DownloadSettings } from './downloads.js';
import type { CandidateName, EngineName, GraphNodes, PowerPreference, Probe } from './backends.js';
import type { KeptMessage } from './kept-message.js';
import type { HttpAnswer, HttpRequestData } from './http.js';
import type { Context, ModelInfo, Params } from './handler.js';
import type { Observation } from './metrics.js';
import type { Timings } from './stages.js';
import type { RemoteServer } from './remote.js';
import type { Tensors } from './tensors.js';

/** A page and a worker of different protocols refuse each other. */
export const PROTOCOL = 21;

/** The worker's first message, sent when it can listen. */
export interface ReadyMessage {
  readonly tabserve: 'ready';
  readonly protocol: number;
}

/**
 * The page's only message to a worker of the app's own, which may have listeners of its own: all other messages go
 * through the ports.
 */
export interface ConnectMessage {
  readonly tabserve: 'connect';
  /** For calls to the `WorkerApi`, through comlink. */
  readonly calls: MessagePort;
  /** For `WorkerEvent`s. */
  readonly events: MessagePort;
  /** A Web Lock that the worker holds as long as it lives. */
  readonly life: string;
}

/** The same to a built-in worker: its calls are its own messages, which take less time than those of a port. */
export type BuiltInConnectMessage = Omit<ConnectMessage, 'calls'>;

/**
 * An event that the worker sends by itself.
 *
 * - `held`: the worker holds its lock.
 * - `unheld`: there are no locks.
 * - `unreadable`: the worker received a message that it cannot read.
 * - `heartbeat`: the worker is making progress.
 * - `step`: the worker begins or ends a step that nothing but its own end can stop, such as a model's regular expression.
 * - `lost`: the worker's GPU was lost.
 * - `progress`: the worker has downloaded more of a file.
 * - `compiled`: the worker has compiled its engine, whose code later workers of the page need not compile again.
 * - `stored`: the worker's downloads are cached for the next visit, as far as possible.
 * - `warn`: a problem that does not stop anything, such as a cache that cannot be used.
 */
export type WorkerEvent =
  | { readonly type: 'held' | 'unheld' | 'unreadable' | 'stored' }
  /** `id`: the batch that makes progress; undefined for the worker as a whole. */
  | { readonly type: 'heartbeat'; readonly id: string | undefined }
  /** `step`: which one has begun; undefined: it has ended. */
  | { readonly type: 'step'; readonly step: LimitedStep | undefined }
  | { readonly type: 'lost'; readonly why: string }
  | { readonly type: 'warn'; readonly message: string }
  /** `planned`: the worker has reported every file that it will download. */
  | { readonly type: 'progress'; readonly progress: FileProgress; readonly planned: boolean }
  | { readonly type: 'compiled'; readonly candidate: CandidateName; readonly compiled: CompiledFile };

/** Code of a model's files that a worker runs within a time limit. */
export interface LimitedStep {
  /** The file, and what of it runs: how the error begins. */
  readonly name: string;
  /** What to do if it takes too long. */
  readonly remedy: string;
}

/** An engine's `.wasm`, compiled. It is sent without a copy: the threads of a page share compiled code. */
export interface CompiledFile {
  /** Where it was loaded from: a client that names another origin or folder never gets this one. */
  readonly url: string;
  /** The engine's version: the file of one version never changes. */
  readonly version: string;
  readonly module: WebAssembly.Module;
}

/**
 * A chunk of the answer to a streamed request. It takes the port of the answers, so that it arrives before the answer.
 */
export interface ChunkMessage {
  readonly type: 'chunk';
  /** The id of the request's batch. */
  readonly id: string;
  readonly chunk: unknown;
  /** What another worker needs to continue after this chunk. */
  readonly resume?: unknown;
  /** What the handler has said of the answer over HTTP; missing if it has said nothing. */
  readonly http?: HttpAnswer;
}

/** An answer, or an error as data. comlink could carry errors, but its transfer handlers for them belong to the app. */
export type Envelope<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

/** The worker's methods, which the page calls. */
export interface WorkerApi {
  /**
   * Probes the browser.
   * @param known the probe of an earlier worker of this page, which is returned unchanged
   * @param needsGpus whether to look for GPUs
   * @param powerPreference which GPU to look for
   */
  probe(
    known: Probe | undefined,
    needsGpus: boolean,
    powerPreference: PowerPreference | undefined,
  ): Promise<Envelope<{ readonly probe: Probe; readonly built: readonly CandidateName[] }>>;
  /**
   * Returns the archive with the files that choosing a backend needs: manifest, config and labels. Starts to download
   * its other files and, side by side, its handler.
   */
  load(request: LoadRequest): Promise<Envelope<Archive>>;
  /** Finds out what `load` would do, without the model's weights. */
  assess(request: LoadRequest): Promise<Envelope<Assessed>>;
  /**
   * Starts the engine that `loadModel` is going to ask for, as soon as the formats of the archive's model are known,
   * which `load` is reading.
   * @param requests by `formatsKey`
   */
  prepare(requests: Readonly<Record<string, StartRequest>>): void;
  /**
   * Downloads the model in the candidate's format and, side by side, downloads and starts the candidate's engine for
   * `open`. Returns the archive with every file that the candidate needs. Files that it already has are not downloaded
   * again.
   */
  loadModel(archive: Archive, start: StartRequest): Promise<Envelope<Archive>>;
  open(request: OpenRequest): Promise<Envelope<Opened>>;
  /** Runs the model on the inputs for comparing backends. Returns an empty list if no input can be generated. */
  sample(): Promise<Envelope<readonly Sample[]>>;
  /** Runs the model on another worker's inputs, and compares the outputs. */
  compare(samples: readonly Sample[]): Promise<Envelope<Comparison>>;
  /**
   * Lets the answers from now on carry the first run of a model on much larger inputs than those that it was proven on.
   * @param compared the sizes that were compared at earlier visits, as `LargerRun.size`, by `Part.node`
   */
  watchSizes(compared: Readonly<Record<string, number>>): Promise<Envelope<void>>;
  /** Measures the model for about `budget` ms. Returns undefined if there is no input to run it on. */
  measure(budget: number): Promise<Envelope<Measured | undefined>>;
  /** Returns the SHA-256 of the model's files; undefined in an insecure context. */
  hash(archive: Archive, engine: EngineName): Promise<Envelope<string | undefined>>;
  /** Waits until the downloads are stored for the next visit, as far as possible. */
  stored(): Promise<Envelope<void>>;
  /** Runs a batch. */
  handle(request: HandleRequest): Promise<Envelope<HandleAnswer>>;
  cancel(id: string): void;
  /** Aborts all batches, and answers when the bitmaps and frames in their rows are closed: the worker is to be ended. */
  closeImages(): Promise<Envelope<void>>;
  /** Tells the worker that the page has room for one more chunk of the answer to the streamed request in batch `id`. */
  more(id: string): void;
  /** Frees what the handler has cached of an input of the page. @param key its `keptKey` */
  forget(key: string): void;
  /** Describes the handler's model. @throws `not-cloneable` if the handler's own description cannot be sent */
  describe(): Promise<Envelope<ModelInfo>>;
  ping(): Promise<Envelope<void>>;
}

export interface LoadRequest {
  /** A URL, or a file that the visitor chose, or several of them by path. */
  readonly source: string | File | Readonly<Record<string, File>>;
  readonly config: ModelConfig | undefined;
  /**
   * A built-in handler's name; undefined for the manifest's handler, or if the worker exposes a handler class of the
   * app.
   */
  readonly handler: string | undefined;
  readonly download: DownloadSettings;
}

/** Says which engine to start, and on which backend. */
export interface StartRequest {
  readonly candidate: CandidateName;
  /** Number of threads to compute with; undefined if the archive's config, or the engine's default, says it. */
  readonly threads?: number | undefined;
  /** URL of a folder with the engine's files; undefined if the bundler has placed them. */
  readonly assets: string | undefined;
  /** The server of models that the app has named. */
  readonly remote?: RemoteServer | undefined;
  /** Which GPU to ask the browser for; undefined for the default. */
  readonly powerPreference?: PowerPreference | undefined;
  readonly download: DownloadSettings;
  /**
   * The precisions that the backend takes of the alternatives of each part of the archive, by its `Part.node`, best
   * first. The first that exists is loaded.
   */
  readonly precisions?: Readonly<Record<string, readonly Precision[] | undefined>> | undefined;
  /** The candidate's engine, if an earlier worker of the page has compiled it. */
  readonly compiled?: CompiledFile | undefined;
}

export interface OpenRequest extends StartRequest {
  readonly archive: Archive;
  /**
   * A built-in handler's name; undefined for the manifest's handler, or if the worker exposes a handler class of the
   * app.
   */
  readonly handler: string | undefined;
  /** Whether a large example is left out at load: nothing would follow from its run. */
  readonly isSpared: boolean;
}

export interface Opened extends Tried {
  readonly threads: number;
  /** Where the nodes of the models run; undefined if the engine does not report it. */
  readonly nodes?: GraphNodes | undefined;
  /** The engine's version. */
  readonly version: string;
  /** How many batches the handler works on at once, if it has set it. */
  readonly batchesAtOnce?: number | undefined;
}

/** Results of a model's first runs. */
export interface Tried {
  /** Number of golden examples, all of which the model reproduced. */
  readonly golden: number;
  /** The largest difference from a golden example. */
  readonly error: number;
  /** Why the outputs should be compared with the reference; undefined if there is no reason. */
  readonly suspicion: string | undefined;
}

/** The feeds and outputs of one run of the model. */
export interface Sample {
  /** The node of a workflow, by its path; missing for the model of the archive itself. */
  readonly node?: string;
  readonly feeds: Tensors;
  readonly outputs: Tensors;
}

/** A run on much larger inputs than those that the model was proven on. */
export interface LargerRun extends Sample {
  /** How many numbers one row of the inputs has, in inputs with free dims. */
  readonly size: number;
}

/** How another worker's outputs differ from those of this worker. */
export interface Comparison {
  /** Number of inputs that were compared; 0 if the model's outputs change with the last bits of each. */
  readonly inputs: number;
  /** The largest absolute difference. */
  readonly error: number;
  /** What is wrong, as text; undefined if every output is within tolerance. */
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
  /** `infer`: the rows are the model's inputs, and the answer has its outputs. No stage of the handler runs. */
  readonly request: Exclude<Context['kind'], 'describe'> | 'infer';
  readonly rows: readonly unknown[];
  /** One per row, as are `params`. */
  readonly ids: readonly string[];
  readonly params: readonly Params[];
  /**
   * The number of chunks for which the page has room, if the request is streamed: a batch of one row. Undefined if it is
   * not.
   */
  readonly room?: number;
  /** What came with the last chunk that the page has of the streamed request; undefined if the answer begins. */
  readonly resumed?: unknown;
  /** The sequence of each row, undefined for a row of none; missing if no row is of a sequence. */
  readonly sequences?: readonly (SequenceData | undefined)[];
  /** The request over HTTP that brought each row, undefined for a row of the page; missing if all are. */
  readonly http?: readonly (HttpRequestData | undefined)[];
  /**
   * The keys of the values that the page retains of the rows: kept inputs, and states of sequences. Missing if there
   * are none.
   */
  readonly kept?: readonly string[];
}

/** The sequence of a row. */
export interface SequenceData {
  readonly id: string;
  /** Its state; missing at its start. */
  readonly state?: KeptMessage;
  /** The key of its next state. */
  readonly nextKey: string;
}

export interface HandleAnswer {
  readonly rows: readonly Envelope<unknown>[];
  /** Why the batch failed as a whole; then there are no rows. */
  readonly failure?: unknown;
  readonly timings: Timings;
  /** The same for each node of a workflow that ran, by its name or path. */
  readonly nodes?: Readonly<Record<string, Timings>>;
  /** Milliseconds in the handler. */
  readonly handlerTime: number;
  /** The handler's observations; missing if it recorded none. */
  readonly metrics?: readonly Observation[];
  /**
   * What the handler has set as the state of each row's sequence; undefined if that stays as it was. Missing if no row
   * is of a sequence.
   */
  readonly states?: readonly unknown[];
  /** What the handler has said of the answer over HTTP to each row; missing if it has said nothing. */
  readonly http?: readonly (HttpAnswer | undefined)[];
  /** Those keys of the request under which the handler has cached something; missing if the request has none. */
  readonly kept?: readonly string[];
  /** Runs that are to be compared with WASM before the answer is used; missing if there are none. */
  readonly larger?: readonly LargerRun[];
  /** Bytes of the engine's memory. */
  readonly memory: number;
}

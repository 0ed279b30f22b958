/** The options that a caller passes to a client, and the types of its events and its description. */
import type { ModelConfig, Progress } from '../contract/archive.js';
import type { CacheName, RequestSettings as DownloadRequest } from '../contract/downloads.js';
import type { Integrity } from '../contract/archive.js';
import type { Backend, BackendName, CandidateName } from '../contract/backends.js';
import type { RemoteOptions } from '../contract/remote.js';
import type { ExplainProgress } from '../outputs/explanation.js';
import type { ExplainParamsOf, FormName, Handler, InputOf, ModelInfo, ParamsOf } from '../contract/handler.js';
import type { AudioInput, PageAudioInput } from '../contract/audio.js';
import type { ElementInput, ImageInput } from '../contract/images.js';
import type { MetricsSnapshot } from '../contract/metrics.js';
import type { Timings } from '../contract/stages.js';
import type { TabServeError } from '../contract/errors.js';
import type { ClientSettings, FrameSettings, RequestSettings, Serving } from '../contract/settings.js';
import type { ModelLocation } from './model-location.js';
import type { FrameSource } from './streams/frame-source.js';
import type { JobQueueStatus } from './requests/backlog.js';
import type { Recovery } from './workers/recovery.js';
import type { VerdictStore } from './selection/verdicts.js';

/** What `load` and `connect` take. The settings of `Serving` replace the archive's own. */
export interface ClientOptions<H extends Handler = Handler, Form = never> extends Partial<Serving>, ClientSettings {
  /**
   * URL of a model archive (a folder, or a packed one: `.mar`, `.zip`, `.tar.gz`) or of a bare model (`.onnx`, or TensorFlow.js's `model.json`), relative to
   * the page; or what the visitor chose or dropped: a packed archive, an `.onnx` file, or all files of an archive.
   */
  readonly model: ModelLocation;
  /**
   * Backends to try, in this order. A backend's name such as `webgl` means every engine on it for which the archive has a model; `tfjs/webgl` means that
   * candidate alone. ONNX Runtime's WebGL computes some models wrongly. So it serves only after it was proven correct, even if it is named: by a golden example
   * or, without one, by a comparison with WASM in a second worker. If neither is possible, it is skipped.
   * The same is true of WebNN (`webnn`), which also needs fixed dimensions (`engine.freeDimensions`).
   * `remote` is the server that the option `remote` names; put it last, for devices that cannot run the model.
   * @default WebGPU on real hardware, WebGL on real hardware, WASM, then GPUs in software; `cpu` and `remote` only if named; ONNX Runtime's WebGL only if named,
   * with golden examples, or with `verify: 'reference'`; WebNN only if named, or with `prefer: 'fastest'`
   */
  readonly backends?: readonly (BackendName | CandidateName)[];
  /** The server for the backend `remote`, such as `{ url: 'https://models.example.org/' }`, which `backends` must name too. Preprocessing and postprocessing stay on this device: only tensors travel. */
  readonly remote?: RemoteOptions;
  /**
   * `first`: the first backend of that order that runs the model correctly. `fastest`: of the backends that run it correctly, the one with the lowest median latency; measurements are
   * cached, for this model, engine, adapter and browser. @default 'first'
   */
  readonly prefer?: 'first' | 'fastest';
  /**
   * How a backend is proven. `golden`: by the archive's golden examples, if it has any. `reference`: if it has none, by a comparison with WASM in a
   * second worker, on black, noise, smooth waves and, for handlers of images, drawn pictures with the features of photographs; the verdict is cached. Outputs that
   * are not finite, and those of ONNX Runtime's WebGL, are compared in any case. @default 'golden'
   */
  readonly verify?: 'golden' | 'reference';
  /** Where verdicts on backends are cached. One that fails, or does not answer within a second, is treated as empty. @default IndexedDB */
  readonly verdicts?: VerdictStore;
  /** Overrides keys of the archive's `model-config.yaml`, e.g. `{ handler: { topK: 3 } }`. */
  readonly config?: ConfigFor<H, Form>;
  /**
   * URL of a folder with the files that `npx tabserve copy` writes: the engines' files and, if the folder is of the page's own origin, the built-in worker's script.
   * @default where the bundler has placed them
   */
  readonly assets?: string | URL;
  /** Headers and credentials of the requests for the model's files, e.g. `{ headers: { Authorization: 'Bearer …' } }`. They are sent to the model's own origin only. */
  readonly request?: DownloadRequest;
  /** Origins, such as `https://cdn.example.org`, that a redirect of the model's or the engine's files may lead to. @default no other origin than the file's own */
  readonly allowedOrigins?: readonly string[];
  /**
   * SHA-256 hashes, in hexadecimal, or sizes and hashes, that the model's files must have, by their path in the archive; for a bare file, by its name.
   * They hold beside those of `tabserve.json`. A file that does not match is refused before it is used; so is an entry for a file that does not exist.
   */
  readonly integrity?: Readonly<Record<string, string | Integrity>>;
  /**
   * Where the files of the model and the engine are kept for the next visit: with the Cache API, in the origin private file system, or nowhere. A cache that cannot be used, or is full,
   * is reported by the event `warn`, and the files are downloaded. @default 'cache-api'
   */
  readonly cache?: CacheName;
  /**
   * Whether tabs of one origin use one session, in one of them: five tabs hold one copy of the weights. They share if all options are the same. A name tells shares
   * with equal options apart; it is needed with a worker of the app's own and with files that the visitor has chosen, and says that their model is the same. Where the
   * browser lacks what it needs, the client has a session of its own, and the event `warn` says why. @default false
   */
  readonly share?: boolean | string;
}

/** What `initialize` takes. */
export interface InitializeOptions {
  /** Aborts downloading and opening; nothing is left running. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** What `predict` and `handle` take beside the input. */
export interface RequestOptions<Params extends object = object> extends RequestSettings {
  /** Rejects the request at once. If it is running already, its answer is discarded. */
  readonly signal?: AbortSignal;
  /** Parameters of the handler for this request, e.g. `{ topK: 3 }`. */
  readonly params?: Params;
  /**
   * Transfers bitmaps, frames and buffers to the worker instead of copying them. The page can no longer use them. An element keeps its picture, which is
   * sent without a copy. If the worker is lost, the request fails with `worker-lost`, because its input is lost too. @default false
   */
  readonly transfer?: boolean;
}

/** What `explain` takes beside the input: the options of every request, and those of the handler's explanations. */
export type ExplainOptions<H extends Handler> = RequestOptions<ParamsOf<H>> &
  ExplainParamsOf<H> & {
    /** Called after each batch of variants of the input that the model has answered. */
    readonly onProgress?: (progress: ExplainProgress) => void;
  };

/** What `frames` takes beside the source. */
export interface FramesOptions<Params extends object = object> extends FrameSettings {
  /** Ends the stream with `aborted`. */
  readonly signal?: AbortSignal;
  /** Parameters of the handler for every frame, e.g. `{ topK: 3 }`. */
  readonly params?: Params;
}

/** The events of a client, with what each passes to its listeners. */
export interface ClientEvents {
  /** The model now runs on another backend, or for the first time. */
  backendchange: Backend;
  /** A worker or its GPU was lost, and another worker has taken over. */
  recover: Recovery;
  /** A worker was lost, and no other could be opened: every request fails until `initialize` is called again. */
  fail: TabServeError;
  /**
   * Something is wrong that stops nothing: the config has an unknown key, files cannot be cached, or the cached ones are used because the server cannot be
   * reached. A handler's `context.warn` comes here, too. The console shows each message once.
   */
  warn: { readonly message: string };
  /** A request was answered, after `queued` milliseconds in the queue; the timings are those of the batch that it ran in, of `batchSize` rows; `nodes` has those of a workflow's nodes. */
  response: {
    readonly rows: number;
    readonly batchSize: number;
    readonly queued: number;
    readonly timings: Timings;
    readonly nodes?: Readonly<Record<string, Timings>>;
  };
}

/** A description of the model, its config, its backend and its metrics. */
export interface Description extends ModelInfo {
  readonly modelName: string;
  readonly modelVersion: string | undefined;
  /** The archive's config, overridden by the caller's, with the defaults for the other settings. */
  readonly config: ModelConfig & Serving;
  readonly backend: Backend;
  /** Number of workers that take requests. In a share, they and the next two are those of the session, which all tabs see alike. */
  readonly workers: number;
  readonly jobQueueStatus: JobQueueStatus;
  readonly metrics: MetricsSnapshot;
  /** Present with the option `share`. */
  readonly sharing?: Sharing;
}

/** How a client shares its session with other tabs. */
export type Sharing =
  | {
      /** Whether the session is in this tab. */
      readonly role: 'host' | 'guest';
      /** Clients that share the session. */
      readonly clients: number;
    }
  | {
      readonly role: 'alone';
      /** Why this page cannot share. */
      readonly reason: string;
    };

/**
 * The input that a page may pass to a handler. An image may also be an element of the page, and audio an AudioBuffer; both may be a URL object, whose file the page downloads. A string is
 * never read as a URL, so a text cannot cause a request. Write `new URL('cat.jpg', document.baseURI)`.
 */
export type ClientInput<H extends Handler> = [InputOf<H>] extends [never] ? unknown : KnownInput<H>;

type KnownInput<H extends Handler> =
  | InputOf<H>
  | (ImageInput extends InputOf<H>
      ? ElementInput | URL | { readonly data: ElementInput | URL } | { readonly body: ElementInput | URL }
      : never)
  | (AudioInput extends InputOf<H>
      ? PageAudioInput | { readonly data: PageAudioInput } | { readonly body: PageAudioInput }
      : never);

/** The source that a page may pass to `frames`: none, unless the handler takes a frame as its input. */
export type ClientFrames<H extends Handler> = [InputOf<H>] extends [never]
  ? FrameSource
  : VideoFrame extends InputOf<H>
    ? FrameSource
    : never;

/** What a request's `params` may hold. `Form` is the value of the param `result`, where that changes the form of the result. */
export type RequestParams<H extends Handler, Form> = [FormName<H>] extends [never]
  ? ParamsOf<H>
  : ParamsOf<H> & { readonly result?: Form };

/** A config whose `handler` section has the params of `H`, of the right types, among its keys. */
export type ConfigFor<H extends Handler, Form> = ModelConfig & { readonly handler?: RequestParams<H, Form> };

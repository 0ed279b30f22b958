import type { Archive, ModelConfig, Progress } from '../../contract/archive.js';
import type { Backend, Probe } from '../../contract/backends.js';
import type { TabServeError } from '../../contract/errors.js';
import type { ModelInfo } from '../../contract/handler.js';
import type { MetricsSnapshot } from '../../contract/metrics.js';
import type { Serving } from '../../contract/settings.js';
import type { Timings } from '../../contract/stages.js';
import type { Job } from './job.js';
import type { JobQueueStatus } from './queue.js';

/** How a model is opened. */
export interface Opening {
  /** Ends the opening. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/** Answers the requests of a client: with the workers of its own tab, or with the model that tabs share. */
export interface Sender {
  /** Whether requests are accepted. */
  readonly serving: boolean;
  /** Why no more requests are answered, until it is opened again; undefined if they are. */
  readonly failure: TabServeError | undefined;
  /** The backend that runs the model; undefined before it is open, as are `archive` and `probe`. */
  readonly backend: Backend | undefined;
  readonly archive: Archive | undefined;
  readonly probe: Probe | undefined;
  /** How many requests keep the workers busy. */
  readonly parallelism: number;
  readonly queueStatus: JobQueueStatus;
  /** The workers of this tab; none if they are in another one. */
  readonly workerStatus: readonly WorkerStatus[];

  /** Opens the model, or opens it again after a failure. @throws what `Client.initialize` throws */
  open(opening: Opening): Promise<void>;

  /** Checks that the queue has room for another request. @throws `queue-full` */
  checkRoom(): void;

  /** Reserves a slot in the queue for a request while its input is being prepared. */
  prepare<T>(preparing: Promise<T>): Promise<T>;

  /** Takes a request. The job will settle. */
  add(job: Job): void;

  /** Describes the model and its workers. @throws `failure`, `worker-lost`, what `describeHandle` throws */
  describe(): Promise<Description>;

  /** Waits for an answer of a worker. @throws `failure`, `worker-lost` */
  ping(): Promise<void>;

  /** Ends everything, and rejects what is pending. Resolves when it has ended. */
  close(error: TabServeError): Promise<void>;
}

/** What a sender tells its client. It records its metrics itself. */
export interface SenderEvents {
  /** Reports that the workers run on another backend from now on. */
  backend(backend: Backend): void;
  recover(recovery: Recovery): void;
  fail(error: TabServeError): void;
  /** Reports a problem that does not stop anything. */
  warn(message: string): void;
  /** @param since when it began, by `performance.now()`, if it took time */
  log(message: string, since?: number): void;
}

/** What one worker of a client is doing. */
export interface WorkerStatus {
  /** Counts the workers that this tab has opened for the model: 1 is the first. */
  readonly number: number;
  /** A worker that is `draining` finishes its batches, takes no more, and is then ended. */
  readonly state: 'opening' | 'ready' | 'draining';
  /** Undefined while it is opening. */
  readonly backend: Backend | undefined;
  /** Number of batches in it now. */
  readonly batches: number;
  /** Number of batches that it has run. */
  readonly runs: number;
  /** Bytes of its engine's memory after the last batch; undefined before the first one. */
  readonly memory: number | undefined;
  /**
   * Ends it as a crash would, to see how the client replaces it: what was in it runs again. Undefined while it is
   * opening.
   */
  readonly end: (() => void) | undefined;
}

/** What happened when a worker was lost and another one took over. */
export interface Recovery {
  readonly backend: Backend;
  /** Why the worker was lost. */
  readonly cause: TabServeError;
  /** The number of its requests that were sent again. */
  readonly replayed: number;
  /**
   * The number of its requests that were rejected: their input was lost, or they had ended another worker before, each
   * time alone.
   */
  readonly failed: number;
  /** Milliseconds from the loss until all of this was done and a worker took requests again. */
  readonly took: number;
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
   * Something is wrong that stops nothing: the config has an unknown key, files cannot be cached, or the cached ones
   * are used because the server cannot be reached. A handler's `context.warn` comes here, too. The console shows each
   * message once.
   */
  warn: { readonly message: string };
  /**
   * A request was answered, after `queued` milliseconds in the queue; the timings are those of the batch that it ran
   * in, of `batchSize` rows; `nodes` has those of a workflow's nodes.
   */
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
  /** The name in the archive's manifest. */
  readonly modelName: string;
  /** The version in the manifest; undefined if it has none. */
  readonly modelVersion: string | undefined;
  /** The archive's config, overridden by the caller's, with the defaults for the other settings. */
  readonly config: ModelConfig & Serving;
  /** The backend that runs the model, and why the preferred ones do not. */
  readonly backend: Backend;
  /**
   * Number of workers that take requests. With `share`, this and the next two describe the shared model, alike in each
   * tab.
   */
  readonly workers: number;
  /** How full the queue is now. */
  readonly jobQueueStatus: JobQueueStatus;
  /** What has been counted and measured so far. */
  readonly metrics: MetricsSnapshot;
  /** Present with the option `share`. */
  readonly sharing?: Sharing;
}

/** How a client shares its model with other tabs. */
export type Sharing =
  | {
      /** `host` if the workers are in this tab. */
      readonly role: 'host' | 'guest';
      /** Number of clients that share the model. */
      readonly clients: number;
    }
  | {
      readonly role: 'alone';
      /** Why this page cannot share. */
      readonly reason: string;
    };

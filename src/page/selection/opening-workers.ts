import type { ModelConfig, Progress } from '../../contract/archive.js';
import type { CandidateName } from '../../contract/backends.js';
import type { TabServeError } from '../../contract/errors.js';
import { servingOf, type Serving } from '../../contract/settings.js';
import type { CompiledFile } from '../../contract/wire.js';
import { abortError } from '../../shared/abort.js';
import { Connection } from '../workers/connection.js';
import type { PrestartedWorker, WorkerFactory } from '../workers/worker-factory.js';
import { ProgressSum } from './progress.js';

export interface OpeningWorkersOptions {
  readonly factory: WorkerFactory;
  /** The first worker, if it was made already. */
  readonly prestarted?: PrestartedWorker | undefined;
  readonly compiled: CompiledFiles;
  /** The archive's config, or the app's until that is known. */
  readonly config: ModelConfig | undefined;
  /** Called with a problem that does not stop anything, once by each worker. */
  readonly warn: (message: string) => void;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly signal: AbortSignal;
}

/** The workers of one opening. If it fails or is aborted, all of them are closed. */
export class OpeningWorkers {
  readonly #options: OpeningWorkersOptions;
  /** Counts the files of all workers together. */
  readonly #progress: ProgressSum | undefined;
  readonly #started = new Set<Connection>();
  #prestarted: PrestartedWorker | undefined;
  /** The caller's settings, until the archive's own are known. */
  serving: Serving;

  constructor(options: OpeningWorkersOptions) {
    this.#options = options;
    this.#prestarted = options.prestarted;
    this.#progress = options.onProgress && new ProgressSum(options.onProgress);
    this.serving = servingOf(options.config ?? {});
  }

  /** @param until ends the start too */
  async start(until?: AbortSignal): Promise<Connection> {
    const { factory, signal, warn, compiled } = this.#options;
    const prestarted = this.#prestarted;
    this.#prestarted = undefined;
    let made: CandidateName | undefined;
    let isStored = false;
    const ends = AbortSignal.any(until ? [signal, until] : [signal]);
    const connection = await Connection.start(factory, {
      signal: ends,
      startupTimeout: this.serving.startupTimeout,
      prestarted,
      onEvent: (event) => {
        if (event.type === 'progress') this.#progress?.add(event);
        else if (event.type === 'warn') warn(event.message);
        else if (event.type === 'stored') isStored = true;
        else if (event.type === 'compiled') compiled.add((made = event.candidate), event.compiled);
      },
    });
    connection.ended.addEventListener('abort', () => made && !isStored && compiled.withdraw(made));
    this.#started.add(connection);
    // It was aborted after the worker was ready, so nobody has closed the worker.
    if (ends.aborted) connection.close(abortError(ends));
    return connection;
  }

  /** Reports that a model is open, so that everything is there. */
  finish(): void {
    this.#progress?.finish();
  }

  /** Ends a worker that is not needed, as soon as its downloads are stored. An abort ends it at once. */
  retire(worker: Connection, error: TabServeError): void {
    const end = (): void => worker.close(error);
    this.#options.signal.addEventListener('abort', end, { signal: worker.ended });
    void worker.call(({ stored }) => stored()).then(end, end);
  }

  closeAll(error: TabServeError): void {
    for (const worker of this.#started) worker.close(error);
  }
}

/** The compiled engines of this page. Each lives as long as a client, or a worker, that uses it. */
const ofPage = new Map<CandidateName, WeakRef<CompiledFile>>();

/**
 * The compiled engines that one client's workers use. Clients of a page share them, so that each engine is compiled
 * once.
 */
export class CompiledFiles {
  readonly #used = new Map<CandidateName, CompiledFile>();

  /** Stores what a worker has compiled. */
  add(candidate: CandidateName, compiled: CompiledFile): void {
    this.#used.set(candidate, compiled);
    ofPage.set(candidate, new WeakRef(compiled));
  }

  /**
   * Withholds from other clients what a worker compiled that ended before the file was stored, because nobody would
   * store it for the next visit.
   */
  withdraw(candidate: CandidateName): void {
    if (ofPage.get(candidate)?.deref() === this.#used.get(candidate)) ofPage.delete(candidate);
  }

  /** Returns the candidate's engine, if a worker of the page has compiled it. */
  find(candidate: CandidateName): CompiledFile | undefined {
    const compiled = this.#used.get(candidate) ?? ofPage.get(candidate)?.deref();
    if (compiled) this.#used.set(candidate, compiled);
    return compiled;
  }
}

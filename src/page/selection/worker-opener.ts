import type { Archive, Progress } from '../../contract/archive.js';
import type { Backend, Probe, Skipped } from '../../contract/backends.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import { resolveSettings, SERVING } from '../../contract/settings.js';
import { unlessAborted } from '../../shared/abort.js';
import { wakeCache } from '../../shared/cache/cache-name.js';
import { loadScript, type ScriptLimit } from '../../shared/load-script.js';
import { timed } from '../../shared/spans.js';
import { configOf, type OpenerOptions } from '../options/client-options.js';
import type { SenderEvents } from '../requests/sender.js';
import type { OpenedWorker } from '../workers/slot.js';
import { prestart, type WorkerFactory } from '../workers/worker-factory.js';
import type { CompiledFiles } from './opening-workers.js';

/** Says which worker to open: the first one, an additional one, or one that replaces a lost one. */
export interface OpenRequest {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly demoted?: readonly Skipped[];
  readonly only?: Backend;
  readonly first?: Backend;
}

/** What an opener tells its sender. */
export interface OpenerEvents extends Pick<SenderEvents, 'log' | 'warn'> {
  /** Reports that a worker has opened the model, after this many milliseconds. */
  opened(backend: Backend, milliseconds: number): void;
}

/** Opens the workers of one client. It reuses for later workers what the first one has found out. */
export class WorkerOpener {
  readonly factory: WorkerFactory;
  readonly options: OpenerOptions;
  readonly events: OpenerEvents;
  /** Undefined until a worker has downloaded it. */
  archive: Archive | undefined;
  /** The browser's capabilities; undefined until a worker has probed them. */
  probe: Probe | undefined;
  /** The compiled engines; undefined until the scripts are loaded that open a worker. */
  compiled: CompiledFiles | undefined;

  constructor(factory: WorkerFactory, options: OpenerOptions, events: OpenerEvents) {
    this.factory = factory;
    this.options = options;
    this.events = events;
  }

  /**
   * Opens the model in a worker. Every wait in it ends when `signal` aborts.
   * @throws what `openModel` throws
   */
  async open(request: OpenRequest): Promise<OpenedWorker> {
    const started = performance.now();
    const opening = this.#open(request);
    try {
      const worker = await unlessAborted(opening, request.signal);
      this.events.opened(worker.backend, performance.now() - started);
      return worker;
    } catch (error) {
      void opening.then(
        ({ connection }) => connection.close(asTabServeError(error)),
        () => {},
      );
      throw error instanceof TabServeError ? error : unusable(error);
    }
  }

  /**
   * Opens the model. The code for that is a lazy script, because an app's page may load long before a model is wanted.
   * The first worker starts meanwhile.
   */
  async #open(request: OpenRequest): Promise<OpenedWorker> {
    const { signal } = request;
    const prestarted = signal.aborted ? undefined : prestart(this.factory);
    if ((this.options.cache ?? 'cache-api') === 'cache-api') void wakeCache();
    try {
      const limit = scriptLimit(this.options, signal);
      const script = async (): Promise<typeof import('./open-worker.js').openWorker> =>
        (await import('./open-worker.js')).openWorker;
      const openWorker = await timed('load scripts', () => loadScript(script, limit));
      return await openWorker(this, request, prestarted);
    } catch (error) {
      prestarted?.worker.terminate();
      throw error;
    }
  }
}

/** Returns how long a script of the page may take to load. @throws `model-config` */
export function scriptLimit(options: OpenerOptions, signal: AbortSignal): ScriptLimit {
  return { seconds: resolveSettings(SERVING, configOf(options)).startupTimeout, signal };
}

/**
 * Returns the error for answers that cannot be used: a worker that is not TabServe's may answer anything, so the code
 * that reads its answers may throw anything.
 */
function unusable(cause: unknown): TabServeError {
  const why = asTabServeError(cause).message;
  return new TabServeError('worker-failed', `The model could not be opened with what the worker answered: ${why}`, {
    cause,
  });
}

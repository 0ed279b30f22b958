import type { Archive, ModelConfig } from '../contract/archive.js';
import type { Backend, Probe } from '../contract/backends.js';
import { asTabServeError, isError, messageOf, TabServeError } from '../contract/errors.js';
import { CLIENT_SETTINGS, resolveSettings, SERVING } from '../contract/settings.js';
import { unlessAborted } from '../shared/abort.js';
import { withinLimit } from '../shared/limit.js';
import type { ClientOptions } from './options.js';
import { readLocation } from './model-location.js';
import type { OpenOptions } from './selection/open.js';
import { absoluteUrl, folderUrl } from './url.js';
import type { OpenedWorker } from './workers/slot.js';
import type { WorkerFactory } from './workers/start.js';

type Chunk = typeof import('./chunk.js');

/** A client's options, with the name of the built-in handler. */
export interface OpenerOptions extends ClientOptions {
  readonly handler?: string | undefined;
}

export interface OpenerHooks {
  /** Returns whether there are workers here. @default always: an app's own factory decides */
  readonly isPossible?: (() => boolean) | undefined;
  /** @param since when it began, by `performance.now()`, if it took time */
  readonly log: (message: string, since?: number) => void;
  /** Called with what is wrong and stops nothing. */
  readonly warn: (message: string) => void;
  readonly opened: (backend: Backend, milliseconds: number) => void;
}

/** Opens the workers of one client. It keeps the archive and the probe of the first worker for the later ones. */
export class WorkerOpener {
  readonly options: OpenerOptions;
  /** Undefined until a worker has downloaded it. */
  archive: Archive | undefined;
  /** The browser's capabilities; undefined until a worker has probed them. */
  probe: Probe | undefined;
  readonly #factory: WorkerFactory;
  readonly #hooks: OpenerHooks;
  #compiled: InstanceType<Chunk['CompiledFiles']> | undefined;

  constructor(factory: WorkerFactory, options: OpenerOptions, hooks: OpenerHooks) {
    this.#factory = factory;
    this.options = options;
    this.#hooks = hooks;
  }

  /**
   * Opens the model in a worker. Every wait in it ends when `signal` aborts.
   * @throws what `openModel` throws; `unsupported` where there are no workers
   */
  async open(request: Pick<OpenOptions, 'signal'> & Partial<OpenOptions>): Promise<OpenedWorker> {
    const { isPossible, opened } = this.#hooks;
    if (isPossible?.() === false) throw noWorkers();
    const started = performance.now();
    const opening = this.#open(request);
    try {
      const worker = await unlessAborted(opening, request.signal);
      opened(worker.backend, performance.now() - started);
      return worker;
    } catch (error) {
      void opening.then(
        ({ connection }) => connection.close(asTabServeError(error)),
        () => {},
      );
      throw error instanceof TabServeError ? error : unusable(error);
    }
  }

  /** Opening a model is a lazy chunk: an app's page may load long before a model is wanted. */
  async #open(request: Pick<OpenOptions, 'signal'> & Partial<OpenOptions>): Promise<OpenedWorker> {
    const { startupTimeout } = resolveSettings(SERVING, { ...this.#config });
    const limit = { milliseconds: startupTimeout * 1000, signal: request.signal };
    const chunk = await withinLimit('Its server', () => import('./chunk.js'), limit).catch((cause: unknown) => {
      throw request.signal?.aborted ? cause : notLoaded(cause);
    });
    return await chunk.openModel({ ...this.#openOptions(chunk), ...request });
  }

  #openOptions({ browserVerdicts, readDownloadSettings, CompiledFiles }: Chunk): Omit<OpenOptions, 'signal'> {
    const { model, handler, backends, assets } = this.options;
    const { prefer = 'first', verify = 'golden', verdicts = browserVerdicts } = this.options;
    const { measureBudget } = resolveSettings(CLIENT_SETTINGS, { ...this.options });
    return {
      factory: this.#factory,
      source: readLocation(model),
      handler,
      backends,
      config: this.#config,
      assets: assets === undefined ? undefined : folderUrl(absoluteUrl(assets, 'assets')),
      download: readDownloadSettings(this.options),
      prefer,
      measureBudget,
      verify,
      verdicts,
      archive: this.archive,
      onArchive: (archive) => (this.archive = archive),
      onProbe: (probe) => (this.probe = probe),
      compiled: (this.#compiled ??= new CompiledFiles()),
      onProgress: undefined,
      log: this.#hooks.log,
      warn: this.#hooks.warn,
    };
  }

  /** The caller's config, with the serving settings among the options. */
  get #config(): ModelConfig {
    const settings = Object.entries(this.options).filter(([key, value]) => key in SERVING && value !== undefined);
    return { ...this.options.config, ...Object.fromEntries(settings) };
  }
}

/** A worker that is not TabServe's may answer anything, so code that reads its answers may throw anything. */
function unusable(cause: unknown): TabServeError {
  const why = asTabServeError(cause).message;
  return new TabServeError('worker-failed', `The model could not be opened with what the worker answered: ${why}`, {
    cause,
  });
}

function notLoaded(cause: unknown): TabServeError {
  const why = (isError(cause) ? messageOf(cause) : String(cause)).replace(/\.$/, '');
  return new TabServeError(
    'worker-failed',
    `A script of TabServe could not be loaded: ${why}. If the app was deployed anew since this page was loaded, reload the page.`,
    { cause },
  );
}

function noWorkers(): TabServeError {
  const message =
    'There are no Web Workers here: this is a server, or another environment that is not a browser. Call load() or initialize() in the ' +
    'browser; importing tabserve and calling connect() work anywhere.';
  return new TabServeError('unsupported', message);
}

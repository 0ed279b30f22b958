import type { Archive, ModelConfig } from '../contract/archive.js';
import type { Backend, Probe } from '../contract/backends.js';
import { asTabServeError, TabServeError } from '../contract/errors.js';
import { CLIENT_SETTINGS, resolveSettings, SERVING } from '../contract/settings.js';
import { unlessAborted } from '../shared/abort.js';
import { wakeCache } from '../shared/cache/cache-name.js';
import { timed } from '../shared/spans.js';
import { withinLimit } from '../shared/limit.js';
import type { ClientOptions } from './options.js';
import { readLocation } from './model-location.js';
import { notLoaded } from './not-loaded.js';
import type { ReadRemote } from './remote-options.js';
import type { OpenOptions } from './selection/open.js';
import { absoluteUrl, folderUrl } from './url.js';
import type { ShareEnvironment } from './sharing/environment.js';
import type { Membership } from './sharing/join.js';
import type { JoinOptions } from './sharing/share.js';
import type { HostedClient } from './sharing/share-host.js';
import type { Recovery } from './workers/recovery.js';
import type { CoreBudget } from './workers/budget.js';
import type { OpenedWorker } from './workers/slot.js';
import { makeEarly, type WorkerFactory } from './workers/early-worker.js';

type Chunk = typeof import('./chunk.js');

/** A client's options, with the name of the built-in handler. */
export interface OpenerOptions extends ClientOptions {
  readonly handler?: string | undefined;
}

/** What the maker of a client knows of its page. */
export interface PageHooks {
  /** Returns whether there are workers here. @default always: an app's own factory decides */
  readonly isPossible?: (() => boolean) | undefined;
  /** Whether its session is shared by other clients, which print its warnings. @default false */
  readonly isHosted?: boolean;
  /** What sharing needs of the browser; or why that is missing. @default what the browser has */
  readonly shareEnvironment?: ShareEnvironment | string;
}

/** What there is around a client. */
export interface ClientEnvironment extends PageHooks {
  /** The cores that its workers share with other clients. @default the page's */
  readonly cores?: CoreBudget;
}

export interface OpenerHooks extends PageHooks {
  /** @param since when it began, by `performance.now()`, if it took time */
  readonly log: (message: string, since?: number) => void;
  /** Called with what is wrong and stops nothing. */
  readonly warn: (message: string) => void;
  readonly opened: (backend: Backend, milliseconds: number) => void;
  /** A session that tabs share has replaced a lost worker. */
  readonly recovered: (recovery: Recovery) => void;
  /** Aborts when the client is disposed of. */
  readonly disposed: AbortSignal;
  /** Makes the client whose session is shared, if this one becomes the host of a share. */
  readonly host: () => HostedClient;
}

/** Opens the workers of one client. It keeps the archive and the probe of the first worker for the later ones. */
export class WorkerOpener {
  readonly options: OpenerOptions;
  /** Undefined until a worker has downloaded it. */
  archive: Archive | undefined;
  /** The browser's capabilities; undefined until a worker has probed them. */
  probe: Probe | undefined;
  /** How the session is shared; undefined unless `share` is set, and before a worker was opened. */
  sharing: Membership | undefined;
  readonly #factory: WorkerFactory;
  readonly #hooks: OpenerHooks;
  #compiled: InstanceType<Chunk['CompiledFiles']> | undefined;

  constructor(factory: WorkerFactory, options: OpenerOptions, hooks: OpenerHooks) {
    this.#factory = factory;
    this.options = options;
    this.#hooks = hooks;
  }

  /** Whether its session is shared by other clients, which print its warnings. */
  get isHosted(): boolean {
    return this.#hooks.isHosted ?? false;
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

  /** Opening a model is a lazy chunk: an app's page may load long before a model is wanted. A guest of a share opens none. The first worker starts meanwhile. */
  async #open(request: Pick<OpenOptions, 'signal'> & Partial<OpenOptions>): Promise<OpenedWorker> {
    const { share = false } = this.options;
    const shared = share === false ? undefined : await this.#join(request);
    if (shared) return shared;
    const early = request.signal?.aborted ? undefined : makeEarly(this.#factory);
    if ((this.options.cache ?? 'cache-api') === 'cache-api') void wakeCache();
    try {
      const chunk = await timed('load scripts', () => this.#load(() => import('./chunk.js'), request.signal));
      return await chunk.openModel({ ...(await this.#openOptions(chunk, request.signal)), ...request, early });
    } catch (error) {
      early?.worker.terminate();
      throw error;
    }
  }

  /** Connects to the session that tabs share. Returns undefined if this page cannot share. */
  async #join(request: JoinOptions): Promise<OpenedWorker | undefined> {
    const { join } = await this.#load(() => import('./sharing/join.js'), request.signal);
    this.sharing ??= await join(this.options, this.#hooks, (archive, probe) => {
      this.archive = archive;
      this.probe = probe;
    });
    return await this.sharing.open(request);
  }

  async #load<T>(script: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const { startupTimeout } = resolveSettings(SERVING, { ...this.#config });
    const limit = { milliseconds: startupTimeout * 1000, signal };
    return await withinLimit('Its server', script, limit).catch((cause: unknown) => {
      throw signal?.aborted ? cause : notLoaded(cause);
    });
  }

  async #openOptions(
    { browserVerdicts, readChoice, readDownloadSettings, CompiledFiles }: Chunk,
    signal: AbortSignal | undefined,
  ): Promise<Omit<OpenOptions, 'signal'>> {
    const { model, handler, assets, verdicts = browserVerdicts } = this.options;
    const choice = readChoice(this.options);
    const { measureBudget } = resolveSettings(CLIENT_SETTINGS, { ...this.options });
    const { server, config } = await this.#readRemote(signal);
    return {
      factory: this.#factory,
      source: readLocation(model),
      handler,
      ...choice,
      config,
      remote: server,
      assets: assets === undefined ? undefined : folderUrl(absoluteUrl(assets, 'assets')),
      download: readDownloadSettings(this.options),
      measureBudget,
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

  /** Reads the option `remote`, by code that only its users download. */
  async #readRemote(signal: AbortSignal | undefined): Promise<ReadRemote> {
    if (this.options.remote === undefined) return { server: undefined, config: this.#config };
    const { readRemote } = await this.#load(() => import('./remote-options.js'), signal);
    return readRemote(this.options, this.#config);
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

function noWorkers(): TabServeError {
  const message =
    'There are no Web Workers here: this is a server, or another environment that is not a browser. Call load() or initialize() in the browser.';
  return new TabServeError('unsupported', message);
}

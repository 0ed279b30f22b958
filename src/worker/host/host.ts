import { loadScript } from '../../shared/load-script.js';
import type { Archive } from '../../contract/archive.js';
import { archiveFor } from '../../contract/archive-parts.js';
import type { Assessed } from '../../contract/assessment.js';
import type { CandidateName, EngineName, PowerPreference, Probe } from '../../contract/backends.js';
import type { HandlerClass, ModelInfo } from '../../contract/handler.js';
import type {
  Comparison,
  Envelope,
  HandleAnswer,
  HandleRequest,
  LoadRequest,
  Measured,
  Opened,
  OpenRequest,
  ChunkMessage,
  Sample,
  StartRequest,
  WorkerApi,
  WorkerEvent,
} from '../../contract/wire.js';
import { envelope } from '../../contract/error-data.js';
import { TabServeError } from '../../contract/errors.js';
import type { Engine, Engines } from '../engines/engine.js';
import { announceSteps } from '../../shared/limited-step.js';
import { timed } from '../../shared/spans.js';
import type { ManifestFound } from '../models/archive.js';
import { hashWorkflow } from '../models/fetch.js';
import { Batches } from './batches.js';
import { Downloads } from './downloads.js';
import { configFor, EngineStarter } from './engine-starter.js';
import { LargerRuns } from './larger-runs.js';
import { checkConfigs, OpenHandlers, type OpenHandler } from './open-handlers.js';
import { compareHandlers, measureHandlers, proveHandlers, sampleHandlers } from './prove.js';
import { browserPlatform, type Platform } from './platform.js';

export interface HostOptions {
  readonly engines: Engines;
  /**
   * Returns the class for a handler's name. A worker with a handler class of the app's own returns it for every name.
   * @throws `unknown-handler`
   */
  readonly handlerClass: (name: string | undefined) => Promise<HandlerClass>;
  /**
   * Returns the built-in class for the handler's name of a workflow's node.
   * @throws `unknown-handler`.
   * @default `handlerClass`
   */
  readonly builtIn?: (name: string | undefined) => Promise<HandlerClass>;
  /** @default a Web Worker's */
  readonly platform?: Platform | undefined;
  readonly emit: (event: WorkerEvent) => void;
  /** Sends a part of an answer on the port of the answers. @throws `DataCloneError` */
  readonly sendChunk: (message: ChunkMessage, transferables: Transferable[]) => void;
}

/** The worker's side of the wire: runs one handler on one engine and backend. */
export class Host implements WorkerApi {
  readonly #options: HostOptions;
  readonly #platform: Platform;
  readonly #batches: Batches;
  readonly #warned = new Set<string>();
  /** The built-in handler's name, or that of the app's own class. */
  #name = '';
  #engine: Engine | undefined;
  /** What `open` has opened: the archive's handler is the last one, its nodes' come before it. */
  #openHandlers: readonly OpenHandler[] = [];
  readonly #largerRuns = new LargerRuns();
  readonly #downloads: Downloads;
  readonly #engines: EngineStarter;
  /**
   * The handlers' classes by name. They are cached, because `import()` waits for a task of the browser's even if the
   * module is loaded.
   */
  readonly #classes = new Map<string | undefined, Promise<HandlerClass>>();
  /** The archive that `load` reads. */
  #reading: Promise<Archive> | undefined;
  #foundManifest!: (found: ManifestFound) => void;
  /** What its manifest says. */
  readonly #manifest = new Promise<ManifestFound>((resolve) => (this.#foundManifest = resolve));
  #foundCopy!: (found: ManifestFound) => void;
  /** What its manifest says, or what it said at an earlier visit, whichever is known first. */
  readonly #copy = new Promise<ManifestFound>((resolve) => (this.#foundCopy = resolve));

  constructor(options: HostOptions) {
    this.#options = options;
    this.#platform = options.platform ?? browserPlatform();
    const { engines, emit, sendChunk } = options;
    announceSteps((step) => emit({ type: 'step', step }));
    this.#batches = new Batches(emit, sendChunk, this.#largerRuns);
    this.#downloads = new Downloads(emit, this.#platform.fetch);
    this.#engines = new EngineStarter({ engines, platform: this.#platform, downloads: this.#downloads, emit });
  }

  probe(
    known: Probe | undefined,
    needsGpus: boolean,
    powerPreference: PowerPreference | undefined,
  ): Promise<Envelope<{ probe: Probe; built: CandidateName[] }>> {
    return envelope(async () => ({
      probe: known ?? (await this.#platform.probe(needsGpus, powerPreference)),
      built: Object.keys(this.#options.engines) as CandidateName[],
    }));
  }

  load({ source, config, handler, download }: LoadRequest): Promise<Envelope<Archive>> {
    return envelope(async () => {
      let loading = handler === undefined ? undefined : this.#handlerClass(handler);
      const onManifest = (found: ManifestFound, isCertain: boolean): void => {
        const own = handler === undefined ? this.#handlerClass(found.manifest.model.handler) : undefined;
        if (isCertain) loading ??= own;
        this.#foundCopy(found);
        if (isCertain) this.#foundManifest(found);
      };
      const handlerClass = (name: string): Promise<HandlerClass> => this.#handlerClass(name);
      const archive = await (this.#reading = timed('read archive', () =>
        this.#downloads.archive(source, { config, handler, handlerClass, onManifest }, download),
      ));
      try {
        // A missing handler is reported before the model is awaited.
        await (loading ?? this.#handlerClass(archive.manifest.model.handler));
        return archive;
      } catch (error) {
        const findHandler = await loadScript(async () => (await import('./nearest-handler.js')).findHandler);
        const read = (): Promise<Blob | undefined> => this.#downloads.onnx(archive, download);
        const found = await findHandler(error, archive, this.#downloads.request(download), read);
        await this.#handlerClass(found.manifest.model.handler);
        return found;
      }
    }, 'load');
  }

  assess(request: LoadRequest): Promise<Envelope<Assessed>> {
    return envelope(async () => {
      const assess = await loadScript(async () => (await import('./assess.js')).assessArchive);
      return await assess(request, this.#downloads, (name) => this.#handlerClass(name));
    }, 'load');
  }

  prepare(starts: Readonly<Record<string, StartRequest>>): void {
    void this.#engines.prepare(starts, [this.#copy, this.#manifest], this.#reading!);
  }

  loadModel(archive: Archive, { precisions, ...request }: StartRequest): Promise<Envelope<Archive>> {
    const { candidate, download } = request;
    void this.#engines.start(request, configFor(archive, request));
    const read = (): Promise<Archive> => this.#downloads.model(archive, engineOf(candidate), download, precisions);
    return envelope(() => timed('read model', read), 'load');
  }

  open(request: OpenRequest): Promise<Envelope<Opened>> {
    return envelope(async () => {
      const format = engineOf(request.candidate);
      const archive = archiveFor(request.archive, format);
      const name = request.handler ?? archive.manifest.model.handler;
      const Class = await this.#handlerClass(name);
      await checkConfigs(archive, (message) => this.#warn(message));
      const engine = (this.#engine = await this.#engines.start(request, archive.config));
      const { handlerClass, builtIn } = this.#options;
      const metrics = this.#batches.recorder();
      const handlers = new OpenHandlers({
        engine,
        candidate: request.candidate,
        handlerOf: ({ manifest }) => (builtIn ?? handlerClass)(manifest.model.handler),
        warn: (message) => this.#warn(message),
        onStage: (context) => this.#batches.heartbeat(context),
      });
      this.#downloads.enter('compile', archive, format);
      await timed('open model', () => handlers.start(archive, Class, metrics));
      this.#downloads.enter('warm-up', archive, format);
      const tried = await timed('prove', () => proveHandlers(handlers.open, request.isSpared));
      // The model can answer. Its files are stored meanwhile.
      const storing = timed('store files', () => this.#downloads.stored());
      void storing.then(() => this.#options.emit({ type: 'stored' }));
      this.#batches.recorded = metrics.observations;
      // The archive may name a built-in handler, whose contract the app's own class does not have.
      this.#name = builtIn ? Class.name : name!;
      this.#openHandlers = handlers.open;
      const { threads, nodes, version } = engine;
      const { batchesAtOnce } = handlers.open.at(-1)!.handler;
      return { threads, nodes, version, batchesAtOnce, ...tried };
    }, 'initialize');
  }

  sample(): Promise<Envelope<readonly Sample[]>> {
    return envelope(() => sampleHandlers(this.#opened), 'initialize');
  }

  compare(samples: readonly Sample[]): Promise<Envelope<Comparison>> {
    return envelope(() => compareHandlers(this.#opened, samples), 'initialize');
  }

  watchSizes(compared: Readonly<Record<string, number>>): Promise<Envelope<void>> {
    return envelope(() => this.#largerRuns.watch(this.#opened, compared), 'initialize');
  }

  measure(budget: number): Promise<Envelope<Measured | undefined>> {
    return envelope(() => measureHandlers(this.#opened, budget), 'initialize');
  }

  hash(archive: Archive, engine: EngineName): Promise<Envelope<string | undefined>> {
    return envelope(() => hashWorkflow(archive, engine), 'load');
  }

  stored(): Promise<Envelope<void>> {
    return envelope(() => this.#downloads.stored());
  }

  /** Loads a handler's class, once. Its failure may stay unhandled: `load` has others to report first. */
  #handlerClass(name: string | undefined): Promise<HandlerClass> {
    const loading = this.#classes.get(name) ?? timed('load handler', () => this.#options.handlerClass(name));
    this.#classes.set(name, loading);
    loading.catch(() => this.#classes.delete(name));
    return loading;
  }

  /** @throws `not-initialized` */
  get #opened(): readonly OpenHandler[] {
    if (this.#openHandlers.length === 0)
      throw new TabServeError('not-initialized', 'The worker has opened no model yet.');
    return this.#openHandlers;
  }

  #warn(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#options.emit({ type: 'warn', message });
  }

  handle(call: HandleRequest): Promise<Envelope<HandleAnswer>> {
    return this.#batches.handle(call, () => this.#opened.at(-1)!, this.#engine);
  }

  describe(): Promise<Envelope<ModelInfo>> {
    return envelope(async () => {
      const describe = await loadScript(async () => (await import('./describe.js')).describe);
      return await describe(this.#opened, this.#name);
    });
  }

  async ping(): Promise<Envelope<void>> {
    return { ok: true, value: undefined };
  }

  cancel(id: string): void {
    this.#batches.cancel(id);
  }

  closeImages(): Promise<Envelope<void>> {
    return envelope(() => this.#batches.closeImages());
  }

  more(id: string): void {
    this.#batches.more(id);
  }

  forget(key: string): void {
    this.#openHandlers.at(-1)?.environment.kept.delete(key);
  }
}

function engineOf(candidate: CandidateName): EngineName {
  return candidate.split('/')[0] as EngineName;
}

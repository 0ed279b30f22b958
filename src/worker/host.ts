import { transfer as comlinkTransfer } from 'comlink';
import { archiveFor, type Archive } from '../contract/archive.js';
import type { CandidateName, EngineName, Probe } from '../contract/backends.js';
import type { Context, ModelInfo } from '../contract/handler.js';
import type { Observation } from '../contract/metrics.js';
import type {
  Comparison,
  Envelope,
  HandleAnswer,
  HandleRequest,
  LoadRequest,
  Measured,
  Opened,
  OpenRequest,
  PartMessage,
  Sample,
  StartRequest,
  WorkerApi,
  WorkerEvent,
} from '../contract/wire.js';
import { errorToData } from '../contract/error-data.js';
import { asTabServeError, TabServeError } from '../contract/errors.js';
import type { Engine, Engines } from '../engines/engine.js';
import { returnReady } from '../shared/buffers.js';
import { timed } from '../shared/spans.js';
import { Definitions } from '../shared/metrics/definitions.js';
import { Recorder } from './recorder.js';
import type { ManifestFound } from '../models/archive.js';
import { hashWorkflow } from '../models/fetch.js';
import { closeImages } from './close-images.js';
import { batchContext } from './context.js';
import { describeModel, describeNodes } from './describe.js';
import { Downloads } from './downloads.js';
import { configFor, EngineStarter } from './engine-starter.js';
import { PartSender } from './part-sender.js';
import { runBatch } from './run-batch.js';
import { checkConfigs, Parts, type HandlerClass, type OpenPart } from './parts.js';
import { compareParts, measureParts, sampleParts, tryParts } from './prove.js';
import { browserPlatform, type Platform } from './platform.js';

export interface HostOptions {
  readonly engines: Engines;
  /** Returns the class for a handler's name. A worker with a handler class of the app's own returns it for every name. @throws `unknown-handler` */
  readonly handlerClass: (name: string | undefined) => Promise<HandlerClass>;
  /** Returns the built-in class for the handler's name of a workflow's node. @throws `unknown-handler`. @default `handlerClass` */
  readonly builtIn?: (name: string | undefined) => Promise<HandlerClass>;
  /** @default a Web Worker's */
  readonly platform?: Platform | undefined;
  readonly emit: (event: WorkerEvent) => void;
  /** Sends a part of an answer on the port of the answers. @throws `DataCloneError` */
  readonly sendPart: (message: PartMessage, transferables: Transferable[]) => void;
}

/** The shortest time between two heartbeats of a batch. */
const HEARTBEAT_MS = 1000;

/** The worker's side of the wire: runs one handler on one engine and backend. */
export class Host implements WorkerApi {
  readonly #options: HostOptions;
  readonly #platform: Platform;
  /** The batches of the page's messages that are not answered yet, by their ids. */
  readonly #running = new Map<string, { readonly aborter: AbortController; parts?: PartSender | undefined }>();
  readonly #warned = new Set<string>();
  /** The definitions of the handler's metrics. */
  readonly #definitions = new Definitions();
  /** What the handler recorded in `initialize`. The first batch's answer carries it. */
  #recorded: readonly Observation[] = [];
  /** The built-in handler's name, or that of the app's own class. */
  #name = '';
  #engine: Engine | undefined;
  /** The last heartbeat of the worker itself, outside of any batch. */
  readonly #workerBeat = { id: undefined, sentAt: 0 };
  /** What `open` has opened: the handler's part is the last one. */
  #parts: readonly OpenPart[] = [];
  readonly #downloads: Downloads;
  readonly #engines: EngineStarter;
  /** The handlers' classes by name: `import()` of a module that is loaded waits for a task of the browser's. */
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
    const { engines, emit } = options;
    this.#downloads = new Downloads(emit, this.#platform.fetch);
    this.#engines = new EngineStarter({ engines, platform: this.#platform, downloads: this.#downloads, emit });
  }

  probe(known: Probe | undefined, needsGpus: boolean): Promise<Envelope<{ probe: Probe; built: CandidateName[] }>> {
    return envelope(async () => ({
      probe: known ?? (await this.#platform.probe(needsGpus)),
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
      const archive = await (this.#reading = timed('read archive', () =>
        this.#downloads.archive(source, { config, handler, onManifest }, download),
      ));
      // A handler that is not there is reported before the model is waited for.
      await (loading ?? this.#handlerClass(archive.manifest.model.handler));
      return archive;
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
      checkConfigs(archive, (message) => this.#warn(message));
      const engine = (this.#engine = await this.#engines.start(request, archive.config));
      const { handlerClass, builtIn } = this.#options;
      const metrics = new Recorder(this.#definitions);
      const parts = new Parts({
        engine,
        format,
        handlerOf: ({ manifest }) => (builtIn ?? handlerClass)(manifest.model.handler),
        warn: (message) => this.#warn(message),
        onStage: (context) => this.#heartbeat(context),
      });
      this.#downloads.enter('compile', archive, format);
      await timed('open model', () => parts.start(archive, Class, metrics));
      this.#downloads.enter('warm-up', archive, format);
      // A page that has its model may be closed at once, and finds the files at its next visit.
      const [tried] = await Promise.all([
        timed('prove', () => tryParts(parts.open)),
        timed('store files', () => this.#downloads.stored()),
      ]);
      this.#recorded = metrics.observations;
      // The archive may name a built-in handler, and the app's own class has another contract.
      this.#name = builtIn ? Class.name : name!;
      this.#parts = parts.open;
      return { threads: engine.threads, nodes: engine.nodes, version: engine.version, ...tried };
    }, 'initialize');
  }

  sample(): Promise<Envelope<readonly Sample[]>> {
    return envelope(() => sampleParts(this.#opened), 'initialize');
  }

  compare(samples: readonly Sample[]): Promise<Envelope<Comparison>> {
    return envelope(() => compareParts(this.#opened, samples), 'initialize');
  }

  measure(budget: number): Promise<Envelope<Measured | undefined>> {
    return envelope(() => measureParts(this.#opened, budget), 'initialize');
  }

  hash(archive: Archive, engine: EngineName): Promise<Envelope<string | undefined>> {
    return envelope(() => hashWorkflow(archive, engine), 'load');
  }

  /** Loads a handler's class, once. Its failure may stay unhandled: `load` has others to report first. */
  #handlerClass(name: string | undefined): Promise<HandlerClass> {
    const loading = this.#classes.get(name) ?? timed('load handler', () => this.#options.handlerClass(name));
    this.#classes.set(name, loading);
    loading.catch(() => this.#classes.delete(name));
    return loading;
  }

  /** @throws `not-initialized` */
  get #opened(): readonly OpenPart[] {
    if (this.#parts.length === 0) throw new TabServeError('not-initialized', 'The worker has opened no model yet.');
    return this.#parts;
  }

  /** Sends a heartbeat: a batch that goes from stage to stage is alive, however long it takes. */
  #heartbeat(context: Context | undefined): void {
    const { metrics } = context ?? {};
    this.#beat((metrics instanceof Recorder && metrics.batch.heartbeat) || this.#workerBeat);
  }

  #beat(last: { readonly id: string | undefined; sentAt: number }): void {
    const now = performance.now();
    if (now - last.sentAt < HEARTBEAT_MS) return;
    last.sentAt = now;
    this.#options.emit({ type: 'heartbeat', id: last.id });
  }

  #warn(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#options.emit({ type: 'warn', message });
  }

  async handle(calls: readonly HandleRequest[]): Promise<readonly Envelope<HandleAnswer>[]> {
    const answers: Envelope<HandleAnswer>[] = [];
    const transferables: Transferable[] = [];
    // None of them is answered before the last one has run: each is a heartbeat of the first, and so of all that wait for it.
    const heartbeat = { id: calls[0]!.id, sentAt: performance.now() };
    // One that waits behind others can be canceled, too.
    for (const { id } of calls) this.#running.set(id, { aborter: new AbortController() });
    for (const call of calls) {
      this.#beat(heartbeat);
      answers.push(await this.#handle(call, heartbeat, transferables));
    }
    return transferables.length > 0 ? comlinkTransfer(answers, transferables) : answers;
  }

  /** Runs a batch. @param transferables where what moves to the page is put */
  async #handle(
    call: HandleRequest,
    heartbeat: Recorder['heartbeat'],
    transferables: Transferable[],
  ): Promise<Envelope<HandleAnswer>> {
    const { id, room } = call;
    const running = this.#running.get(id)!;
    const { signal } = running.aborter;
    const post = (part: unknown, list: Transferable[]): void =>
      this.#options.sendPart({ type: 'part', id, part }, list);
    const parts = (running.parts = room === undefined ? undefined : new PartSender(room, post, signal));
    call.released?.forEach(returnReady);
    const recorder = new Recorder(this.#definitions, this.#recorded);
    this.#recorded = [];
    const started = performance.now();
    recorder.heartbeat = heartbeat;
    const answer = (
      rows: readonly Envelope<unknown>[],
      failure?: unknown,
      states?: readonly unknown[],
    ): Envelope<HandleAnswer> => {
      const handlerTime = performance.now() - started;
      const metrics = recorder.observations.length > 0 && { metrics: recorder.observations };
      return {
        ok: true,
        value: {
          rows,
          ...(failure !== undefined && { failure }),
          ...(states && { states }),
          timings: recorder.timings,
          ...(Object.keys(recorder.nodes).length > 0 && { nodes: recorder.nodes }),
          handlerTime,
          ...metrics,
          memory: this.#engine?.memory() ?? 0,
        },
      };
    };
    try {
      signal.throwIfAborted();
      const {
        rows,
        transferables: own,
        states,
      } = await runBatch(call, {
        ...this.#opened.at(-1)!,
        metrics: recorder,
        signal,
        send: parts && ((_, part) => parts.send(part)),
      });
      await parts?.allSent();
      transferables.push(...own);
      return answer(rows, undefined, states);
    } catch (error) {
      return answer([], errorToData(asTabServeError(error)));
    } finally {
      parts?.end();
      this.#running.delete(id);
      closeImages(call.rows);
    }
  }

  describe(): Promise<Envelope<ModelInfo>> {
    return envelope(async () => {
      const { handler, environment } = this.#opened.at(-1)!;
      const context = batchContext(environment, { request: 'describe' });
      return { ...(await describeModel(handler, this.#name, context)), ...(await describeNodes(this.#parts)) };
    });
  }

  async ping(): Promise<Envelope<void>> {
    return { ok: true, value: undefined };
  }

  cancel(id: string): void {
    this.#running
      .get(id)
      ?.aborter.abort(new TabServeError('aborted', 'No caller waits for the answer to this request any more.'));
  }

  more(id: string): void {
    this.#running.get(id)?.parts?.more();
  }
}

function engineOf(candidate: CandidateName): EngineName {
  return candidate.split('/')[0] as EngineName;
}

async function envelope<T>(work: () => Promise<T>, stage?: 'load' | 'initialize'): Promise<Envelope<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error: errorToData(asTabServeError(error, stage)) };
  }
}

import { transfer as comlinkTransfer } from 'comlink';
import { archiveFor, type Archive } from '../contract/archive.js';
import type { CandidateName, EngineName, Probe } from '../contract/backends.js';
import type { Context, Handler, ModelInfo } from '../contract/handler.js';
import type { Metrics, Observation } from '../contract/metrics.js';
import type { Session } from '../contract/tensors.js';
import type {
  Comparison,
  Envelope,
  HandleAnswer,
  HandleRequest,
  LoadRequest,
  Measured,
  Opened,
  OpenRequest,
  Sample,
  StartRequest,
  WorkerApi,
  WorkerEvent,
} from '../contract/wire.js';
import { errorToData } from '../contract/error-data.js';
import { asTabServeError, PredictionError, TabServeError, type ErrorCode } from '../contract/errors.js';
import { probeBackends } from '../backends/probe.js';
import type { Engine, Engines } from '../engines/engine.js';
import { Definitions } from '../shared/metrics/definitions.js';
import { Recorder } from './recorder.js';
import { hashModel } from '../models/archive.js';
import { checkConfig } from '../models/config.js';
import { createFiles } from '../models/files.js';
import { transferablesOf } from '../outputs/transfer.js';
import { batchContext, type BatchContext, type HandlerEnvironment } from './context.js';
import { describeModel } from './describe.js';
import { Downloads } from './downloads.js';
import { notCloneable } from './endpoint.js';
import { instrument } from './stages.js';
import { compareSamples, measure, sample, tryOut } from './warm-up.js';
import { threadCount } from './threads.js';

/** A handler class: it is constructed without arguments. */
export type HandlerClass = new () => Handler;

export interface HostOptions {
  readonly engines: Engines;
  /** The class for a handler's name; one of the app's own answers to every name. @throws `unknown-handler` */
  readonly handlerClass: (name: string | undefined) => Promise<HandlerClass>;
  readonly emit: (event: WorkerEvent) => void;
}

/** What no single row of a batch can have caused: without that row, the others would fail as well. */
const WHOLE: ReadonlySet<ErrorCode> = new Set([
  'worker-lost',
  'device-lost',
  'out-of-memory',
  'aborted',
  'not-initialized',
  'disposed',
]);

/** What is the handler's own fault where each row fails so alone: then the batch does. */
const OF_HANDLER: ReadonlySet<ErrorCode> = new Set(['batch-contract', 'model-config']);

/** Signs of life are not given more often. */
const SIGN_OF_LIFE_MS = 1000;

/** One worker's side of the wire: one handler on one engine and backend. */
export class Host implements WorkerApi {
  readonly #options: HostOptions;
  readonly #running = new Map<string, AbortController>();
  readonly #warned = new Set<string>();
  /** Of what the handler records. */
  readonly #definitions = new Definitions();
  /** What the handler has recorded in `initialize`: it goes with the first batch. */
  #recorded: readonly Observation[] = [];
  #handler: Handler | undefined;
  /** By which the handler was asked for. */
  #name = '';
  #engine: Engine | undefined;
  /** Batches by their metrics, which all of their contexts share, and the worker as a whole: when the page last heard of each. */
  readonly #batches = new WeakMap<Metrics, { readonly id: string; told: number }>();
  readonly #whole = { id: undefined, told: 0 };
  #environment: HandlerEnvironment | undefined;
  readonly #downloads: Downloads;
  /** The engine that `loadModel` has begun to start. */
  #starting: { readonly candidate: CandidateName; readonly engine: Promise<Engine> } | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#downloads = new Downloads(options.emit);
  }

  probe(known: Probe | undefined): Promise<Envelope<{ probe: Probe; built: CandidateName[] }>> {
    return envelope(async () => ({
      probe: known ?? (await probeBackends()),
      built: Object.keys(this.#options.engines) as CandidateName[],
    }));
  }

  load({ source, config }: LoadRequest): Promise<Envelope<Archive>> {
    return envelope(() => this.#downloads.archive(source, config), 'load');
  }

  loadModel(archive: Archive, { candidate, assets }: StartRequest): Promise<Envelope<Archive>> {
    const engine = engineOf(candidate);
    const starting = this.#startEngine({ candidate, assets, archive: archiveFor(archive, engine) });
    this.#starting = { candidate, engine: starting };
    // Its failure is told by `open`: the page keeps the model for the next candidate.
    starting.catch(() => {});
    return envelope(() => this.#downloads.model(archive, engine), 'load');
  }

  open(request: OpenRequest): Promise<Envelope<Opened>> {
    return envelope(async () => {
      const { candidate } = request;
      const archive = archiveFor(request.archive, engineOf(candidate));
      const Class = await this.#options.handlerClass(request.handler ?? archive.manifest.model.handler);
      checkConfig(archive.config, (message) => this.#warn(message));
      const starting = this.#starting?.candidate === candidate ? this.#starting.engine : undefined;
      const engine = (this.#engine = await (starting ?? this.#startEngine({ ...request, archive })));
      this.#environment = {
        modelDir: archive.url,
        manifest: archive.manifest,
        config: archive.config,
        files: createFiles(archive.files),
        open: sessions(engine, archive, archive.models[engineOf(candidate)]!),
        warn: (message) => this.#warn(message),
      };
      const handler = new Class();
      instrument(handler, (stage) => this.#getOn(stage));
      const context = batchContext(this.#environment, { metrics: new Recorder(this.#definitions) });
      await handler.initialize(context);
      const tried = await tryOut(handler, batchContext(this.#environment, {}), archive);
      this.#recorded = context.metrics.observations;
      this.#name = request.handler ?? archive.manifest.model.handler ?? Class.name;
      this.#handler = handler;
      return { threads: engine.threads, version: engine.version, ...tried };
    }, 'initialize');
  }

  sample(): Promise<Envelope<readonly Sample[]>> {
    return envelope(() => sample(this.#open.handler, this.#open.context), 'initialize');
  }

  compare(samples: readonly Sample[]): Promise<Envelope<Comparison>> {
    return envelope(() => compareSamples(this.#open.context, samples), 'initialize');
  }

  measure(budget: number): Promise<Envelope<Measured | undefined>> {
    return envelope(() => measure(this.#open.handler, this.#open.context, budget), 'initialize');
  }

  hash(archive: Archive, engine: EngineName): Promise<Envelope<string | undefined>> {
    return envelope(() => hashModel(archive, engine), 'load');
  }

  get #open(): { readonly handler: Handler; readonly context: Context } {
    if (!this.#handler || !this.#environment)
      throw new TabServeError('not-initialized', 'The worker has opened no model yet.');
    return { handler: this.#handler, context: batchContext(this.#environment, {}) };
  }

  async #startEngine({ candidate, archive, assets }: Omit<OpenRequest, 'handler'>): Promise<Engine> {
    const start = this.#options.engines[candidate];
    if (!start) throw new TabServeError('backend-failed', `This worker was built without ${candidate}.`);
    try {
      const onLost = (why: string): void => this.#options.emit({ type: 'lost', why });
      const threads = candidate === 'onnx/wasm' ? threadCount(archive.config.engine?.threads) : 1;
      return await this.#downloads.engine((onProgress) => start({ assets, onLost, threads, onProgress }));
    } catch (cause) {
      throw new TabServeError(
        'backend-failed',
        `${candidate} could not be started: ${cause instanceof Error ? cause.message : String(cause)}`,
        { cause },
      );
    }
  }

  /** A batch that goes from stage to stage is alive, however long it takes. */
  #getOn(context: Context | undefined): void {
    const batch = (context && this.#batches.get(context.metrics)) ?? this.#whole;
    const now = performance.now();
    if (now - batch.told < SIGN_OF_LIFE_MS) return;
    batch.told = now;
    this.#options.emit({ type: 'heartbeat', id: batch.id });
  }

  #warn(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    console.warn(`tabserve: ${message}`);
  }

  async handle(call: HandleRequest): Promise<Envelope<HandleAnswer>> {
    const aborter = new AbortController();
    this.#running.set(call.id, aborter);
    const recorder = new Recorder(this.#definitions, this.#recorded);
    this.#recorded = [];
    const started = performance.now();
    this.#batches.set(recorder, { id: call.id, told: started });
    const answer = (rows: readonly Envelope<unknown>[], failure?: unknown): Envelope<HandleAnswer> => {
      const handlerTime = performance.now() - started;
      const metrics = recorder.observations.length > 0 && { metrics: recorder.observations };
      return {
        ok: true,
        value: {
          rows,
          ...(failure !== undefined && { failure }),
          timings: recorder.timings,
          handlerTime,
          ...metrics,
          memory: this.#engine?.memory() ?? 0,
        },
      };
    };
    try {
      const results = eachItsOwn(await this.#answer(call, { metrics: recorder, signal: aborter.signal }));
      const transferables = new Set(results.flatMap((result) => [...transferablesOf(result)]));
      const rows = results.map((result): Envelope<unknown> =>
        result instanceof PredictionError ? { ok: false, error: errorToData(result) } : { ok: true, value: result },
      );
      return comlinkTransfer(answer(rows), [...transferables]);
    } catch (error) {
      return answer([], errorToData(asTabServeError(error)));
    } finally {
      this.#running.delete(call.id);
      // After the answer has left, in which a handler may have put one of them.
      setTimeout(() => closeImages(call.rows));
    }
  }

  /** One batch. A batch that a stage threw for is tried again row by row, once: one bad row fails alone, whatever the handler does about it. */
  async #answer(
    { rows, ids, params, request }: HandleRequest,
    outside: Pick<BatchContext, 'metrics' | 'signal'>,
  ): Promise<readonly unknown[]> {
    const { handler } = this.#open;
    const run = async (from: number, to: number): Promise<readonly unknown[]> => {
      const batch = {
        ...outside,
        request,
        batchSize: to - from,
        ids: ids.slice(from, to),
        params: params.slice(from, to),
      };
      return checkLength(
        await handler.handle(rows.slice(from, to) as never[], batchContext(this.#environment!, batch)),
        to - from,
      );
    };
    const { observations } = outside.metrics;
    const before = observations.length;
    let failure: TabServeError;
    try {
      return await run(0, rows.length);
    } catch (error) {
      failure = asTabServeError(error);
      if (rows.length < 2 || outside.signal.aborted || WHOLE.has(failure.code)) throw failure;
    }
    // What it has recorded so far, each row will again.
    observations.length = before;
    const results: unknown[] = [];
    for (const index of rows.keys()) {
      try {
        results.push(...(await run(index, index + 1)));
      } catch (error) {
        results.push(PredictionError.from(error));
      }
    }
    if (
      OF_HANDLER.has(failure.code) &&
      results.every((result) => result instanceof PredictionError && result.code === failure.code)
    )
      throw failure;
    return results;
  }

  describe(): Promise<Envelope<ModelInfo>> {
    return envelope(() =>
      describeModel(this.#open.handler, this.#name, batchContext(this.#environment!, { request: 'describe' })),
    );
  }

  async ping(): Promise<Envelope<void>> {
    return { ok: true, value: undefined };
  }

  cancel(id: string): void {
    this.#running.get(id)?.abort();
  }
}

/** A handler may answer two rows with one object; two callers must not share it, and what is moved can be moved but once. */
function eachItsOwn(results: readonly unknown[]): readonly unknown[] {
  const seen = new Set<unknown>();
  return results.map((result) => {
    if (typeof result !== 'object' || result === null || result instanceof PredictionError || !seen.has(result)) {
      seen.add(result);
      return result;
    }
    try {
      return structuredClone(result);
    } catch (error) {
      return notCloneable(error);
    }
  });
}

/** Bitmaps and frames that came with a row are this worker's own; unclosed frames would starve the browser's decoder. */
function closeImages(value: unknown, seen = new Set<unknown>()): void {
  if (isImage(value)) value.close();
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
    for (const inner of Object.values(value)) closeImages(inner, seen);
}

/** Not every browser has both classes. */
function isImage(value: unknown): value is ImageBitmap | VideoFrame {
  return (
    (typeof ImageBitmap !== 'undefined' && value instanceof ImageBitmap) ||
    (typeof VideoFrame !== 'undefined' && value instanceof VideoFrame)
  );
}

/** A handler of the user's own may have replaced `handle`, and its check. */
function checkLength(results: readonly unknown[], rows: number): readonly unknown[] {
  if (Array.isArray(results) && results.length === rows) return results;
  throw new TabServeError(
    'batch-contract',
    `handle got ${rows} rows and returned ${Array.isArray(results) ? `${results.length} results` : 'no list'}; it must return one a row.`,
  );
}

/** The models of one archive, each opened once. */
function sessions(engine: Engine, { files, config }: Archive, model: string): Context['open'] {
  const opened = new Map<string, Promise<Session>>();
  return async (path = model) => {
    const session = opened.get(path) ?? engine.open(createFiles(files), path, config.engine ?? {});
    opened.set(path, session);
    session.catch(() => opened.delete(path));
    return await session;
  };
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

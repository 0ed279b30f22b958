import type { Backend } from '../../../src/contract/backends.ts';
import { TabServeError, type ErrorCode } from '../../../src/contract/errors.ts';
import { SERVING, type Serving } from '../../../src/contract/settings.ts';
import type { Envelope, HandleAnswer, WorkerApi } from '../../../src/contract/wire.ts';
import { prepare, type Prepared } from '../../../src/page/requests/inputs.ts';
import type { Chunk, Chunks } from '../../../src/page/requests/chunks.ts';
import { Job } from '../../../src/page/requests/job.ts';
import { CoreBudget } from '../../../src/page/workers/budget.ts';
import type { WorkerMethod } from '../../../src/page/workers/connection.ts';
import { WorkerPool } from '../../../src/page/workers/pool.ts';
import type { OpenWorker } from '../../../src/page/workers/pool-state.ts';
import type { Recovery } from '../../../src/page/requests/sender.ts';
import type { OpenedWorker, WearLimits, WorkerConnection } from '../../../src/page/workers/slot.ts';

/** Whatever promises have to do, without time passing. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

/** A worker that answers when the test says so. */
export class FakeWorker implements WorkerConnection {
  readonly requests: {
    readonly ids: readonly string[];
    readonly answer: (envelope: Envelope<HandleAnswer>) => void;
    /** How many more chunks of its answer it may send; undefined if the request is not streamed. */
    room: number | undefined;
    /** What came with the last chunk that the page has. */
    readonly resumed: unknown;
    readonly rows: readonly unknown[];
    /** The keys of the kept inputs in them. */
    readonly kept: readonly string[] | undefined;
    readonly onChunk: ((chunk: Chunk) => void) | undefined;
  }[] = [];
  /** Ids of rows that cannot be sent. */
  readonly uncloneable = new Set<string>();
  readonly canceled: string[] = [];
  /** The keys of the kept inputs that it was told to forget. */
  readonly forgotten: string[] = [];
  /** The calls that its watchdog does not watch. */
  readonly paused = new Set<string>();
  readonly #ended = new AbortController();
  readonly #pending = new Set<(error: TabServeError) => void>();
  error: TabServeError | undefined;
  #onChunk: ((chunk: Chunk) => void) | undefined;

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Ids of the rows in each batch that it has not answered. */
  get batches(): readonly string[] {
    return this.requests.map(({ ids }) => ids.join('+'));
  }

  call<T>(method: WorkerMethod<T>, _id?: string, onChunk?: (chunk: Chunk) => void): Promise<T> {
    if (this.error) return Promise.reject(this.error);
    return new Promise<T>((resolve, reject) => {
      this.#pending.add(reject);
      this.#onChunk = onChunk;
      method(this.#api as never).then((envelope) => {
        this.#pending.delete(reject);
        if (envelope.ok) resolve(envelope.value);
        else reject(envelope.error as Error);
      }, reject);
    });
  }

  tell(method: (worker: never) => Promise<void>): void {
    void method(this.#api as never);
  }

  setPaused(id: string, isPaused: boolean): void {
    if (isPaused) this.paused.add(id);
    else this.paused.delete(id);
  }

  close(error: TabServeError): void {
    if (this.error) return;
    this.error = error;
    this.#ended.abort(error);
    for (const reject of this.#pending) reject(error);
  }

  /** It dies by itself. */
  die(code: ErrorCode = 'worker-lost', why = 'it died'): void {
    this.close(new TabServeError(code, why));
  }

  /** Its watchdog ends it. */
  hang(): void {
    const cause = new TabServeError('timeout', 'It had no heartbeat for 120 s.');
    this.close(new TabServeError('worker-lost', 'it hung', { cause }));
  }

  /** Answers its oldest batch. */
  answer(given: Partial<HandleAnswer> = {}): void {
    this.answerOf(this.requests[0]!, given);
  }

  /** Answers one of its batches. */
  answerOf(request: (typeof this.requests)[number], given: Partial<HandleAnswer> = {}): void {
    this.requests.splice(this.requests.indexOf(request), 1);
    const { ids, answer } = request;
    const rows = ids.map((value): Envelope<unknown> => ({ ok: true, value }));
    answer({ ok: true, value: { rows, timings: {}, handlerTime: 20, memory: 0, ...given } });
  }

  /** Sends a part of the answer to a streamed request for which there is room. */
  sendChunk(request: (typeof this.requests)[number], chunk: unknown, resume?: unknown): void {
    request.room! -= 1;
    request.onChunk!({ chunk, resume });
  }

  readonly #api: Partial<WorkerApi> = {
    handle: ({ ids, room, resumed, rows, kept }) =>
      new Promise((resolve, reject) => {
        if (ids.some((id) => this.uncloneable.has(id)))
          reject(new TabServeError('not-cloneable', 'It cannot be cloned.'));
        else this.requests.push({ ids, room, resumed, rows, kept, answer: resolve, onChunk: this.#onChunk });
      }),
    cancel: (id) => void this.canceled.push(id),
    forget: (key) => void this.forgotten.push(key),
    more: (id) => {
      const request = this.requests.find(({ ids }) => ids[0] === id);
      if (request?.room !== undefined) request.room += 1;
    },
    ping: async () => ({ ok: true, value: undefined }),
  };
}

export const wasm: Backend = { engine: 'onnx', name: 'wasm', threads: 1, proof: 'golden', skipped: [] };
export const webgpu: Backend = { ...wasm, name: 'webgpu' };

/** An attempt to open a worker that is under way. */
interface Attempt extends OpenWorker {
  readonly resolve: (worker: OpenedWorker) => void;
  readonly reject: (error: TabServeError) => void;
}

export interface WorldOptions extends WearLimits, Partial<Serving> {
  readonly cores?: number | CoreBudget;
  readonly maxRetryTimeoutInSec?: number;
}

/** A pool in a world whose time, workers and cores the test holds in its hand. */
export class World {
  now = 1000;
  readonly attempts: Attempt[] = [];
  readonly workers: FakeWorker[] = [];
  readonly recoveries: Recovery[] = [];
  readonly backends: string[] = [];
  readonly failures: TabServeError[] = [];
  readonly log: string[] = [];
  readonly cores: CoreBudget;
  readonly pool: WorkerPool;
  readonly #settings: Serving;
  #timers: { readonly at: number; readonly task: () => void }[] = [];
  #jobs = 0;

  constructor({ cores = 4, maxRetryTimeoutInSec = 300, maxRuns, maxMemory, ...settings }: WorldOptions = {}) {
    const defaults = Object.fromEntries(Object.entries(SERVING).map(([key, setting]) => [key, setting.default]));
    this.#settings = { ...(defaults as Serving), ...settings };
    this.cores = typeof cores === 'number' ? new CoreBudget(cores) : cores;
    this.pool = new WorkerPool({
      clock: {
        now: () => this.now,
        schedule: (task, milliseconds) => {
          const timer = { at: this.now + milliseconds, task };
          this.#timers.push(timer);
          return () => void (this.#timers = this.#timers.filter((one) => one !== timer));
        },
      },
      cores: this.cores,
      maxRetryTimeoutInSec,
      maxRuns,
      maxMemory,
      log: (what) => void this.log.push(what),
      open: (request) => new Promise((resolve, reject) => void this.attempts.push({ ...request, resolve, reject })),
      on: {
        backend: ({ name }) => void this.backends.push(name),
        queued: () => {},
        ran: () => {},
        recover: (recovery) => void this.recoveries.push(recovery),
        fail: (error) => void this.failures.push(error),
      },
    });
  }

  /** Timers that are set. */
  get timers(): number {
    return this.#timers.length;
  }

  /** The first worker. */
  async start(backend = wasm, opened: Pick<OpenedWorker, 'batchesAtOnce' | 'compareLarger'> = {}): Promise<FakeWorker> {
    const worker = this.#make();
    this.pool.start({ ...opened, connection: worker, backend }, this.#settings);
    await settle();
    return worker;
  }

  /** The oldest attempt succeeds. */
  async opened(backend = wasm, opened: Pick<OpenedWorker, 'compareLarger'> = {}): Promise<FakeWorker> {
    const worker = this.#make();
    this.attempts.shift()!.resolve({ ...opened, connection: worker, backend });
    await settle();
    return worker;
  }

  /** The oldest attempt fails. */
  async notOpened(code: ErrorCode = 'backend-failed', why = 'it cannot'): Promise<void> {
    this.attempts.shift()!.reject(new TabServeError(code, why));
    await settle();
  }

  /** Lets time pass; timers fire in their order. */
  async pass(milliseconds: number): Promise<void> {
    const until = this.now + milliseconds;
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
      if (!next) break;
      this.#timers = this.#timers.filter((one) => one !== next);
      this.now = Math.max(this.now, next.at);
      next.task();
      await settle();
    }
    this.now = until;
  }

  /** A request; its outcome is its id, or its error's code. */
  ask({
    replayable = true,
    exclusive = false,
    signal = undefined as AbortSignal | undefined,
    chunks = undefined as Chunks | undefined,
    request = 'predict' as 'predict' | 'explain',
    input = undefined as unknown,
    transfer = false,
  } = {}): Asked {
    const id = String(++this.#jobs);
    const row: Prepared =
      input !== undefined
        ? (prepare(input, { transfer }) as Prepared)
        : {
            message: () => ({ value: id, transferables: [] }),
            get replayable() {
              return replayable;
            },
            snapshot: () => {},
            rollback: () => {},
            release: () => {},
          };
    const job = new Job([row], {
      order: this.#jobs,
      request,
      params: {},
      priority: 0,
      exclusive,
      signal,
      arrivedAt: this.now,
      timeout: undefined,
      chunks,
    });
    const asked: Asked = { id, outcome: undefined, error: undefined };
    job.answer.then(
      ({ rows }) => (asked.outcome = rows.map((one) => (one.ok ? String(one.value) : 'failed')).join()),
      (error: TabServeError) => {
        asked.outcome = error.code;
        asked.error = error;
      },
    );
    this.pool.add(job);
    return asked;
  }

  #make(): FakeWorker {
    const worker = new FakeWorker();
    this.workers.push(worker);
    return worker;
  }
}

export interface Asked {
  readonly id: string;
  outcome: string | undefined;
  error: TabServeError | undefined;
}

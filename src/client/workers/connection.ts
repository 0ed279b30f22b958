import { releaseProxy, wrap, type Remote } from 'comlink';
import {
  PROTOCOL,
  type ConnectMessage,
  type Envelope,
  type ReadyMessage,
  type WorkerApi,
  type WorkerEvent,
} from '../../contract/wire.js';
import { errorFromData, type ErrorData } from '../../contract/error-data.js';
import { TabServeError } from '../../contract/errors.js';
import { abortion } from '../abort.js';

/** Makes a fresh worker. Called anew for each candidate and after each loss, so it must not return the same one twice. */
export type WorkerFactory = () => Worker;

type Methods = Pick<Remote<WorkerApi>, keyof WorkerApi>;

export interface ConnectionOptions {
  readonly onEvent: (event: WorkerEvent) => void;
  readonly signal: AbortSignal | undefined;
  /** Seconds without a sign of life, while something is asked of it, after which the worker is ended. */
  readonly startupTimeout: number;
}

/** One that the worker has not answered yet. */
interface Call {
  readonly id: string | undefined;
  readonly reject: (error: TabServeError) => void;
  /** Its last sign of life, by `performance.now()`. */
  alive: number;
}

/** A timer that is so late means that the page was asleep or frozen, and the worker with it. */
const ASLEEP_MS = 2000;

/**
 * One worker, from its start to its end. Whatever ends it - a script that is missing or throws, a crash, `close()` from inside, `close` here -
 * rejects every call that is pending, and every later one.
 */
export class Connection {
  readonly #worker: Worker;
  readonly #remote: Remote<WorkerApi>;
  /** Its methods, taken once: comlink makes a proxy with a finaliser each time that one is looked up. */
  readonly #methods: Methods;
  readonly #events: MessagePort;
  /** In order. No call races a promise that outlives it: that one would keep every answer. */
  readonly #pending = new Set<Call>();
  readonly #ended = new AbortController();
  /** The watchdog: seconds of silence that are too many, and the timer. */
  #patience: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #error: TabServeError | undefined;

  private constructor(worker: Worker, { onEvent, startupTimeout }: ConnectionOptions) {
    this.#worker = worker;
    this.#patience = startupTimeout;
    const calls = new MessageChannel();
    const events = new MessageChannel();
    this.#events = events.port1;
    const life = `tabserve/${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
    events.port1.onmessage = ({ data }: MessageEvent<WorkerEvent>) => {
      this.#lives(data.type === 'alive' ? data.id : undefined);
      if (data.type === 'held') this.#watch(life);
      else if (data.type === 'unreadable') this.#end('worker-lost', 'it could not read a message of the page');
      else if (data.type === 'lost') this.close(new TabServeError('device-lost', data.why));
      else if (data.type !== 'alive') onEvent(data);
    };
    this.#remote = wrap<WorkerApi>(calls.port1);
    const { probe, load, loadModel, open, sample, compare, measure, hash, handle, cancel, describe, ping } =
      this.#remote;
    this.#methods = { probe, load, loadModel, open, sample, compare, measure, hash, handle, cancel, describe, ping };
    worker.addEventListener('error', (event) => this.#end('worker-lost', failureOf(event)));
    // A message that cannot be read, here or there, would leave its call pending.
    for (const target of [worker, calls.port1, events.port1]) {
      target.addEventListener('messageerror', () =>
        this.#end('worker-lost', 'a message between page and worker could not be read'),
      );
    }
    const message: ConnectMessage = { tabserve: 'connect', calls: calls.port2, events: events.port2, life };
    worker.postMessage(message, [calls.port2, events.port2]);
  }

  /** @throws `worker-failed` if the worker does not start; `aborted` */
  static async start(factory: WorkerFactory, options: ConnectionOptions): Promise<Connection> {
    const { signal, startupTimeout } = options;
    if (signal?.aborted) throw abortion(signal);
    let worker: Worker;
    try {
      worker = factory();
    } catch (cause) {
      throw new TabServeError(
        'worker-failed',
        `The worker could not be made: ${cause instanceof Error ? cause.message : String(cause)}`,
        { cause },
      );
    }
    try {
      await ready(worker, startupTimeout, signal);
      return new Connection(worker, options);
    } catch (error) {
      worker.terminate();
      throw error;
    }
  }

  /** Aborts when the worker has ended, with the error that says why. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Why it ended; undefined while it lives. */
  get error(): TabServeError | undefined {
    return this.#error;
  }

  /**
   * Calls the worker. Settles, whatever happens to it.
   * @param id by which the worker tells that it gets on with this call
   * @throws what the worker threw, whole; `worker-lost`; `not-cloneable` if the arguments cannot be sent
   */
  call<T>(method: (worker: Methods) => Promise<Envelope<T>>, id?: string): Promise<T> {
    if (this.#error) return Promise.reject(this.#error);
    return new Promise((resolve, reject) => {
      const answer = method(this.#methods);
      const call: Call = { id, reject, alive: performance.now() };
      this.#pending.add(call);
      this.#timer ??= setTimeout(this.#check, this.#patience * 1000, call.alive + this.#patience * 1000);
      answer
        .then(
          (answer) => (answer.ok ? resolve(answer.value) : reject(errorFromData(answer.error as ErrorData))),
          (cause: unknown) => reject(refusal(cause)),
        )
        .finally(() => {
          this.#livesSince(call);
          this.#pending.delete(call);
        });
    });
  }

  /** From now on the worker is ended after so many seconds without a sign of life in which something is asked of it. */
  set patience(seconds: number) {
    this.#patience = seconds;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** The watchdog's: on the page, where nothing that blocks the worker blocks it. A worker at rest is not asked for signs of life. */
  readonly #check = (due: number): void => {
    this.#timer = undefined;
    if (this.#error || this.#pending.size === 0) return;
    const now = performance.now();
    if (now - due > ASLEEP_MS) this.#lives(undefined);
    const left = Math.min(...[...this.#pending].map(({ alive }) => alive)) + this.#patience * 1000 - now;
    if (left > 0) this.#timer = setTimeout(this.#check, left, now + left);
    else this.#end('worker-lost', `it gave no sign of life for ${this.#patience} s`);
  };

  /** A sign of life of one call, or of the worker as a whole. */
  #lives(id: string | undefined): void {
    for (const call of this.#pending) if (id === undefined || call.id === id) return this.#livesSince(call);
  }

  /** A call that gets on tells that those after it are waiting; of one before it, which may hang, it tells nothing. */
  #livesSince(first: Call): void {
    const now = performance.now();
    let reached = false;
    for (const call of this.#pending) {
      reached ||= call === first;
      if (reached) call.alive = now;
    }
  }

  /** Tells the worker something, without an answer. */
  tell(method: (worker: Methods) => Promise<void>): void {
    if (!this.#error) void method(this.#methods).catch(() => {});
  }

  /** Ends the worker; what is pending is rejected with `error`. */
  close(error: TabServeError): void {
    if (this.#error) return;
    this.#error = error;
    clearTimeout(this.#timer);
    this.#ended.abort(error);
    for (const { reject } of this.#pending) reject(error);
    this.#pending.clear();
    this.#worker.terminate();
    this.#events.close();
    this.#remote[releaseProxy]();
  }

  #end(code: 'worker-lost', why: string): void {
    this.close(new TabServeError(code, `The worker ended: ${why}.`));
  }

  /** The worker holds a lock while it lives. Without Web Locks (an insecure context) only errors tell of its end. */
  #watch(life: string): void {
    void navigator.locks.request(life, () => this.#end('worker-lost', 'it closed itself, or the browser ended it'));
  }
}

async function ready(worker: Worker, seconds: number, signal: AbortSignal | undefined): Promise<void> {
  const listening = new AbortController();
  const on = { signal: listening.signal };
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (message: string, cause?: unknown): void =>
        reject(new TabServeError('worker-failed', message, { cause }));
      timer = setTimeout(
        () => fail(`The worker did not start within ${seconds} s. Does its module call expose()?`),
        seconds * 1000,
      );
      signal?.addEventListener('abort', () => reject(abortion(signal)), on);
      worker.addEventListener(
        'error',
        (event) => fail(`The worker could not start: ${failureOf(event)}.`, event.error),
        on,
      );
      worker.addEventListener(
        'message',
        ({ data }: MessageEvent<ReadyMessage | undefined>) => {
          if (data?.tabserve !== 'ready') return;
          if (data.protocol === PROTOCOL) resolve();
          else
            fail(
              `The worker speaks protocol ${data.protocol}, the page ${PROTOCOL}: they come from different versions of tabserve.`,
            );
        },
        on,
      );
    });
  } finally {
    clearTimeout(timer);
    listening.abort();
  }
}

/** A worker whose script cannot be loaded sends an `Event` without a message. */
function failureOf(event: Event): string {
  const { message, filename, lineno } = event as Partial<ErrorEvent>;
  return message ? `${message}${filename ? ` (${filename}:${lineno})` : ''}` : 'its script could not be loaded';
}

/** comlink rejects when the arguments cannot be cloned. */
function refusal(cause: unknown): TabServeError {
  return new TabServeError(
    'not-cloneable',
    `This cannot be sent to the worker: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause },
  );
}

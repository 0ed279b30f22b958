import { releaseProxy, transfer, wrap, type Remote } from 'comlink';
import { errorFromData, type ErrorData } from '../../contract/error-data.js';
import { asTabServeError, blameOf, messageOf, TabServeError } from '../../contract/errors.js';
import type {
  BuiltInConnectMessage,
  ConnectMessage,
  Envelope,
  HandleAnswer,
  HandleRequest,
  ChunkMessage,
  LimitedStep,
  WorkerApi,
  WorkerEvent,
} from '../../contract/wire.js';
import { browserClock } from '../../shared/clock.js';
import { isPlainObject } from '../../shared/is-plain-object.js';
import { watchRelease } from '../../shared/lock-release.js';
import { timed } from '../../shared/spans.js';
import { isBuiltIn } from './worker-factory.js';
import type { WorkerFactory } from './worker-factory.js';
import { describeErrorEvent, startWorker, type StartOptions } from './start-worker.js';
import { Watchdog } from './watchdog.js';
import type { Chunk } from '../requests/chunks.js';
import { isFrame } from '../requests/pictures.js';

/** How long a worker may take to close its frames before it is ended: as long as a run of a slow model. */
const CLOSING_MS = 1000;

/**
 * Seconds within which a worker that is ready shows that it lives. It answers the page's first message at once, long
 * before it downloads or computes anything.
 */
const FIRST_SIGN_SECONDS = 5;

/** Seconds within which code of a model's files must end: a tokenizer's expressions and a chat template take milliseconds. */
const MAX_STEP_SECONDS = 4;

type Proxies = Pick<Remote<WorkerApi>, keyof WorkerApi>;

/** The worker's methods. `handle` also takes what moves to the worker with the request. */
type Methods = Omit<Proxies, 'handle'> & {
  handle(request: HandleRequest, transferables: Transferable[]): Promise<Envelope<HandleAnswer>>;
};

/** A call to the worker, e.g. `({ ping }) => ping()`. */
export type WorkerMethod<T> = (worker: Methods) => Promise<Envelope<T>>;

export interface ConnectionOptions extends StartOptions {
  readonly onEvent: (event: WorkerEvent) => void;
}

/**
 * One worker, from its start to its end. Its end rejects every pending call and every later one: a script that throws,
 * a crash, `close()` inside the worker, or `close` here. Nothing refers to a worker that has ended.
 */
export class Connection {
  readonly #worker: Worker;
  readonly #remote: Remote<WorkerApi>;
  /**
   * The methods of `#remote`. comlink creates a proxy at each access, and keeps the port of each proxy that is not
   * released, so each is accessed once.
   */
  readonly #proxies: Proxies;
  readonly #methods: Methods;
  readonly #ports: readonly MessagePort[];
  /** Where its answers come from. */
  readonly #calls: MessagePort | Worker;
  /** Rejects each pending call. `Promise.race` with the worker's end would keep every answer alive until then. */
  readonly #pending = new Set<(error: TabServeError) => void>();
  /** Takes the chunks of the answer to each streamed call, by the call's id. */
  readonly #onChunk = new Map<string, (chunk: Chunk) => void>();
  /** The answers to calls with frames. Until they come, the worker has the frames. */
  readonly #withFrames = new Set<Promise<unknown>>();
  readonly #watchdog: Watchdog;
  /** Watches the step that runs. */
  #step: Watchdog | undefined;
  readonly #ended = new AbortController();
  /** Ends all listening. */
  readonly #listening = new AbortController();
  #error: TabServeError | undefined;
  /** Whether it has not shown yet that it lives. Until then `FIRST_SIGN_SECONDS` count. */
  #isNew = true;
  #timeout: number;

  private constructor(worker: Worker, { onEvent, startupTimeout }: ConnectionOptions) {
    this.#worker = worker;
    this.#timeout = startupTimeout;
    const firstSign = Math.min(FIRST_SIGN_SECONDS, startupTimeout);
    this.#watchdog = new Watchdog(firstSign, (seconds) => this.close(silent(seconds)));
    const lives = (): void => {
      this.#isNew = false;
      this.timeout = this.#timeout;
    };
    const calls = isBuiltIn(worker) ? undefined : new MessageChannel();
    const events = new MessageChannel();
    this.#ports = calls ? [calls.port1, events.port1] : [events.port1];
    this.#calls = calls?.port1 ?? worker;
    const life = `tabserve/${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
    const on = { signal: this.#listening.signal };
    events.port1.addEventListener(
      'message',
      ({ data }: MessageEvent<WorkerEvent>) => {
        if (data.type === 'step') return this.#limitStep(data.step);
        this.#watchdog.beat(data.type === 'heartbeat' ? data.id : undefined);
        if (data.type === 'unheld') lives();
        if (data.type === 'held') void this.#watchLock(life).then(lives, () => {});
        else if (data.type === 'unreadable') this.#end('it could not read a message of the page');
        else if (data.type === 'lost') this.close(new TabServeError('device-lost', data.why));
        else if (data.type !== 'heartbeat') onEvent(data);
      },
      on,
    );
    events.port1.start();
    this.#remote = wrap<WorkerApi>(this.#calls);
    const remote = this.#remote;
    this.#proxies = {
      probe: remote.probe,
      load: remote.load,
      assess: remote.assess,
      prepare: remote.prepare,
      loadModel: remote.loadModel,
      open: remote.open,
      sample: remote.sample,
      compare: remote.compare,
      watchSizes: remote.watchSizes,
      measure: remote.measure,
      hash: remote.hash,
      stored: remote.stored,
      handle: remote.handle,
      cancel: remote.cancel,
      closeImages: remote.closeImages,
      more: remote.more,
      forget: remote.forget,
      describe: remote.describe,
      ping: remote.ping,
    };
    const { handle } = this.#proxies;
    this.#methods = {
      ...this.#proxies,
      handle: (request, list) => {
        const answer = handle(transfer(request, list));
        if (request.rows.some(hasFrame)) this.#noteFrames(answer);
        return answer;
      },
    };
    worker.addEventListener(
      'error',
      (event) => this.#end(describeErrorEvent(event) ?? 'it failed to load a script'),
      on,
    );
    // If a message cannot be read on either side, its call would stay pending.
    for (const target of [worker, ...this.#ports])
      target.addEventListener('messageerror', () => this.#end('a message of it could not be read'), on);
    const message: BuiltInConnectMessage = { tabserve: 'connect', events: events.port2, life };
    if (!calls) worker.postMessage(message, [events.port2]);
    else worker.postMessage({ ...message, calls: calls.port2 } satisfies ConnectMessage, [calls.port2, events.port2]);
  }

  /** @throws `worker-failed` if the worker does not start; `aborted` */
  static async start(factory: WorkerFactory, options: ConnectionOptions): Promise<Connection> {
    return new Connection(await timed('start worker', () => startWorker(factory, options)), options);
  }

  /** Aborts when the worker has ended, with the error that says why. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Why it ended; undefined while it lives. */
  get error(): TabServeError | undefined {
    return this.#error;
  }

  /** Seconds without a heartbeat, while it has something to do, after which the worker is ended. */
  set timeout(seconds: number) {
    this.#timeout = seconds;
    if (!this.#isNew) this.#watchdog.timeout = seconds;
  }

  /**
   * Calls the worker. Settles, whatever happens to it.
   * @param id by which the worker's heartbeats, and the chunks of its answer, name this call
   * @param onChunk takes each chunk of the answer, if the call is streamed
   * @throws what the worker threw; `worker-lost`; `not-cloneable` if the arguments cannot be sent
   */
  call<T>(method: WorkerMethod<T>, id?: string, onChunk?: (chunk: Chunk) => void): Promise<T> {
    if (this.#error) return Promise.reject(this.#error);
    return new Promise((resolve, reject) => {
      const answer = method(this.#methods);
      const watched = this.#watchdog.watch(id);
      this.#pending.add(reject);
      if (id !== undefined && onChunk) this.#listen(id, onChunk);
      const ended = (): void => {
        this.#watchdog.forget(watched);
        this.#pending.delete(reject);
        if (onChunk) this.#onChunk.delete(id!);
      };
      answer.then(
        (envelope) => {
          ended();
          if (envelope?.ok === true) resolve(envelope.value);
          else reject(errorOf(envelope));
        },
        (cause: unknown) => {
          ended();
          reject(notSent(cause));
        },
      );
    });
  }

  /**
   * Listens for the chunks of a streamed answer. Without streams, only comlink listens to the port of the answers.
   */
  #listen(id: string, onChunk: (chunk: Chunk) => void): void {
    this.#onChunk.set(id, onChunk);
    // Adding it again changes nothing.
    this.#calls.addEventListener('message', this.#onChunkMessage as EventListener);
  }

  readonly #onChunkMessage = ({ data }: MessageEvent<ChunkMessage | undefined>): void => {
    if (data?.type !== 'chunk') return;
    this.#watchdog.beat(data.id);
    this.#onChunk.get(data.id)?.(data);
  };

  /** Sends the worker something that it does not answer. */
  tell(method: (worker: Methods) => Promise<void>): void {
    if (!this.#error) void method(this.#methods).catch(() => {});
  }

  /** Ends the worker if the step that has begun takes too long. */
  #limitStep(step: LimitedStep | undefined): void {
    this.#step?.stop();
    this.#step = step === undefined ? undefined : new Watchdog(MAX_STEP_SECONDS, () => this.close(endless(step)));
    this.#step?.watch(undefined);
  }

  /** Records whether the worker waits for the page with the call of this id, so that its silence means nothing. */
  setPaused(id: string, isPaused: boolean): void {
    this.#watchdog.setPaused(id, isPaused);
  }

  #noteFrames(answer: Promise<unknown>): void {
    const forget = (): void => void this.#withFrames.delete(answer);
    this.#withFrames.add(answer);
    answer.then(forget, forget);
  }

  /**
   * Ends the worker, and rejects pending calls with `error` at once. A worker that has frames is ended when it has
   * closed them, after a second at most: Chromium complains of frames that end with their worker.
   */
  close(error: TabServeError): void {
    if (this.#error) return;
    this.#error = error;
    this.#watchdog.stop();
    this.#step?.stop();
    this.#listening.abort();
    this.#ended.abort(error);
    for (const reject of this.#pending) reject(error);
    this.#pending.clear();
    this.#onChunk.clear();
    if (this.#withFrames.size === 0 || blameOf(error.code) === 'worker') this.#terminate();
    else void this.#endWithFrames();
  }

  async #endWithFrames(): Promise<void> {
    let cancelTimer = (): void => {};
    const late = new Promise<void>((resolve) => (cancelTimer = browserClock.schedule(resolve, CLOSING_MS)));
    await Promise.race([this.#methods.closeImages(), late]).catch(() => {});
    cancelTimer();
    this.#terminate();
  }

  #terminate(): void {
    this.#worker.terminate();
    for (const proxy of [this.#remote, ...Object.values(this.#proxies)]) proxy[releaseProxy]();
    for (const port of this.#ports) port.close();
  }

  #end(why: string): void {
    this.close(new TabServeError('worker-lost', `The worker ended: ${why}.`));
  }

  /**
   * Watches the lock that the worker holds until it ends. Without Web Locks (in an insecure context), only errors and
   * the watchdog report its end. Resolves when the worker is known to live.
   */
  async #watchLock(name: string): Promise<void> {
    const end = (): void => this.#end('it closed itself, or the browser ended it');
    // Browsers refuse locks to pages that are being unloaded.
    const isHeld = await watchRelease(navigator.locks, name, end, this.#listening.signal).catch(() => true);
    // Either the page does not see the locks of new workers, or the worker has ended already.
    if (!isHeld) await this.call(({ ping }) => ping());
  }
}

/** Returns the error of a worker that the watchdog ends. Its cause tells it from one that has ended by itself. */
function silent(seconds: number): TabServeError {
  const cause = new TabServeError('timeout', `It had no heartbeat for ${seconds} s.`);
  return new TabServeError('worker-lost', `The worker ended: it had no heartbeat for ${seconds} s.`, { cause });
}

/** Returns the error of a worker that is ended because a step of it does not end. */
function endless({ name, remedy }: LimitedStep): TabServeError {
  return new TabServeError(
    'model-config',
    `${name} takes longer than ${MAX_STEP_SECONDS} s, so the worker was ended. ${remedy}`,
  );
}

/** Returns whether an input is a frame, or contains one. */
function hasFrame(row: unknown): boolean {
  return isFrame(row) || (isPlainObject(row) && Object.values(row).some(isFrame));
}

/** Returns the error in an envelope; `worker-failed` if it is not an envelope. */
function errorOf(envelope: Envelope<unknown> | undefined): TabServeError {
  if (envelope?.ok === false) return asTabServeError(errorFromData(envelope.error as ErrorData));
  return new TabServeError(
    'worker-failed',
    'The worker sent an invalid answer. Check that its module calls expose() of tabserve/worker, in the same version as the page.',
  );
}

/** Returns the error for arguments that cannot be cloned: comlink rejects with the cause. */
function notSent(cause: unknown): TabServeError {
  return new TabServeError('not-cloneable', `This cannot be sent to the worker: ${messageOf(cause)}`, { cause });
}

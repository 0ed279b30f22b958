import { parentPort, Worker as Thread, workerData } from 'node:worker_threads';
import { messageOf } from '../../contract/errors.js';
import type { WorkerScope } from '../../worker/host/serve.js';
import { NativeCalls } from './native-calls.js';

/** Tells a thread that it is a client's worker: test runners have threads of their own, whose port is not ours. */
const MARK = 'tabserve/worker';

/** What a client's worker is started with. */
interface ThreadData {
  readonly mark: typeof MARK;
  readonly calls: Int32Array;
}

/** The calls of the threads that run. */
const running = new Set<NativeCalls>();

function endAll(): void {
  for (const calls of running) calls.endNow();
}

/**
 * The process's own flags, which a thread inherits if it is given none: if they are passed to it, it refuses V8's. No
 * thread with a script may have `--input-type`.
 */
const given = process.execArgv.filter((flag) => !flag.startsWith('--input-type'));
const inherited = given.length === process.execArgv.length ? {} : { execArgv: given };

/** Says why a thread has failed. An older Node takes TypeScript for JavaScript, or for an unknown kind of file. */
function whyItFailed(error: unknown, { pathname }: URL): string {
  const why = messageOf(error);
  const isUnread = why.startsWith('Unknown file extension') || (error instanceof Error && error.name === 'SyntaxError');
  return isUnread && /\.[cm]?tsx?$/.test(pathname)
    ? `${why}${why.includes(pathname) ? '' : ` (${pathname})`}. Compile it to JavaScript first: Node reads TypeScript from 22.18 on, if removing the types is enough`
    : why;
}

/**
 * A worker thread that looks like a Web Worker: what a client needs of one. Its module calls `expose` of
 * `tabserve/worker`.
 *
 * ```ts
 * const birds = connect<BirdClassifier>(() => new ThreadWorker(new URL('./birds.worker.js', import.meta.url)), { model: './models/birds/' });
 * ```
 */
export class ThreadWorker extends EventTarget {
  readonly #thread: Thread;
  readonly #calls = new NativeCalls();
  #isTerminated = false;

  /** @param script the worker's module */
  constructor(script: URL) {
    super();
    const thread = (this.#thread = new Thread(script, {
      workerData: { mark: MARK, calls: this.#calls.state } satisfies ThreadData,
      ...inherited,
    }));
    thread.on('message', (data: unknown) => this.dispatchEvent(new MessageEvent('message', { data })));
    thread.on('messageerror', (data: unknown) => this.dispatchEvent(new MessageEvent('messageerror', { data })));
    thread.on('error', (error: unknown) => this.#fail(whyItFailed(error, script), error));
    thread.on('exit', (code) => {
      running.delete(this.#calls);
      this.#fail(`its thread ended with exit code ${code}`);
    });
    running.add(this.#calls);
    // A process that exits ends its threads.
    if (!process.listeners('exit').includes(endAll)) process.on('exit', endAll);
  }

  /** Sends a message to the thread. */
  postMessage(message: unknown, transfer: NonNullable<Parameters<Thread['postMessage']>[1]> = []): void {
    this.#thread.postMessage(message, transfer);
  }

  /**
   * Ends the thread. A run of the model that it is in the middle of is finished first: native code cannot be
   * interrupted.
   */
  terminate(): void {
    this.#isTerminated = true;
    if (!this.#calls.end()) void this.#thread.terminate();
  }

  #fail(message: string, error?: unknown): void {
    if (!this.#isTerminated) this.dispatchEvent(Object.assign(new Event('error'), { message, error }));
  }
}

const data = workerData as Partial<ThreadData> | null;
const isOurs = data?.mark === MARK;

/** The port to the client, in a thread that `ThreadWorker` has started; undefined in any other. */
export const clientPort: WorkerScope | undefined = isOurs ? (parentPort as unknown as WorkerScope) : undefined;

/** The calls of native code in such a thread; undefined in any other. */
export const nativeCalls: NativeCalls | undefined = isOurs ? new NativeCalls(data.calls) : undefined;

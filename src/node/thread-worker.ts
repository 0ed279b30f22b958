import { parentPort, Worker as Thread, workerData, type TransferListItem } from 'node:worker_threads';
import { messageOf } from '../contract/errors.js';
import type { WorkerScope } from '../worker/serve.js';

/** Tells a thread that it is a client's worker: test runners have threads of their own, whose port is not ours. */
const MARK = 'tabserve/worker';

/** The process's own flags, but for the one that no thread with a script may have. */
const execArgv = process.execArgv.filter((flag) => !flag.startsWith('--input-type'));

/**
 * A worker thread that looks like a Web Worker: what a client needs of one. Its module calls `expose` of `tabserve/worker`.
 *
 * ```ts
 * const birds = connect<BirdClassifier>(() => new ThreadWorker(new URL('./birds.worker.js', import.meta.url)), { model: './models/birds/' });
 * ```
 */
export class ThreadWorker extends EventTarget {
  readonly #thread: Thread;
  #isTerminated = false;

  /** @param script the worker's module */
  constructor(script: URL) {
    super();
    const thread = (this.#thread = new Thread(script, { workerData: MARK, execArgv }));
    thread.on('message', (data: unknown) => this.dispatchEvent(new MessageEvent('message', { data })));
    thread.on('messageerror', (data: unknown) => this.dispatchEvent(new MessageEvent('messageerror', { data })));
    thread.on('error', (error: unknown) => this.#fail(messageOf(error), error));
    thread.on('exit', (code) => this.#fail(`its thread ended with exit code ${code}`));
  }

  /** Sends a message to the thread. */
  postMessage(message: unknown, transfer: readonly TransferListItem[] = []): void {
    this.#thread.postMessage(message, transfer);
  }

  /** Ends the thread. A run of the model that it is in the middle of is finished first: native code cannot be interrupted. */
  terminate(): void {
    this.#isTerminated = true;
    void this.#thread.terminate();
  }

  #fail(message: string, error?: unknown): void {
    if (!this.#isTerminated) this.dispatchEvent(Object.assign(new Event('error'), { message, error }));
  }
}

/** The port to the client, in a thread that `ThreadWorker` has started; undefined in any other. */
export const clientPort: WorkerScope | undefined =
  workerData === MARK ? (parentPort as unknown as WorkerScope) : undefined;

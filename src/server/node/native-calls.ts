/** What a thread does: JavaScript, a call of native code, its last such call, or nothing any more. */
const [FREE, BUSY, ENDING, ENDED] = [0, 1, 2, 3];

/** How long a process that exits waits for the last call of a thread, which may have ended otherwise. */
const MAX_MS = 10_000;

/**
 * Prevents a thread from being ended in the middle of a call of onnxruntime-node: when such a call returns to a thread
 * whose JavaScript has been stopped, it ends the whole process. The thread and its parent have one each, on the same
 * memory.
 */
export class NativeCalls {
  readonly #state: Int32Array;

  constructor(state: Int32Array = new Int32Array(new SharedArrayBuffer(4))) {
    this.#state = state;
  }

  /** The memory that both sides share. */
  get state(): Int32Array {
    return this.#state;
  }

  /**
   * Makes a call, in the thread, one at a time. If the thread is to end, makes no call; the thread ends after the last
   * call.
   */
  async run<T>(call: () => Promise<T>): Promise<T> {
    if (Atomics.compareExchange(this.#state, 0, FREE, BUSY) !== FREE) return await new Promise(() => {});
    try {
      return await call();
    } finally {
      if (Atomics.compareExchange(this.#state, 0, BUSY, FREE) !== BUSY) {
        Atomics.store(this.#state, 0, ENDED);
        Atomics.notify(this.#state, 0);
        process.exit();
      }
    }
  }

  /**
   * Prevents further calls of the thread, from the parent. Returns whether a call is running; the thread then ends
   * after it.
   */
  end(): boolean {
    for (;;) {
      const before = Atomics.load(this.#state, 0);
      if (before === ENDING || before === ENDED) return before === ENDING;
      if (Atomics.compareExchange(this.#state, 0, before, before === BUSY ? ENDING : ENDED) === before)
        return before === BUSY;
    }
  }

  /** Waits until the thread makes no call, in the parent, whose process is about to end the thread. */
  endNow(): void {
    if (this.end()) Atomics.wait(this.#state, 0, ENDING, MAX_MS);
  }
}

/** How many parts may be on their way to the page or wait there to be read. With two, the worker makes one while the page reads the other. */
const ROOM = 2;

/** The parts of the answer to one streamed request, between the worker that sends them and the caller that reads them. */
export class Parts {
  readonly room = ROOM;
  /** Called when a part was read, so that there is room for another one. Whoever sends the request to a worker sets it. */
  onRead: (() => void) | undefined;
  /** Called when a part has arrived. */
  onPart: (() => void) | undefined;
  #unread: unknown[] = [];
  #wasRead = false;
  readonly #restarts: boolean;

  /** @param restarts whether the parts may start again although the caller has read some: those of another run replace them, as progress does */
  constructor({ restarts = false } = {}) {
    this.#restarts = restarts;
  }

  /** Whether the worker has to wait until the caller reads a part. */
  get isFull(): boolean {
    return this.#unread.length >= this.room;
  }

  /** Whether the caller has read a part that another run must not send again. */
  get wasRead(): boolean {
    return this.#wasRead && !this.#restarts;
  }

  get hasUnread(): boolean {
    return this.#unread.length > 0;
  }

  push(part: unknown): void {
    this.#unread.push(part);
    this.onPart?.();
  }

  /** Returns the oldest unread part. To be called only while `hasUnread`. */
  read(): unknown {
    const part = this.#unread.shift();
    this.#wasRead = true;
    this.onRead?.();
    return part;
  }

  /** Forgets the unread parts: the answer starts again, or nobody wants it. */
  clear(): void {
    this.#unread = [];
  }
}

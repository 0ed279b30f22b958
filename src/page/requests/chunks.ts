import type { HttpAnswer } from '../../contract/http.js';

/** A chunk of an answer, with what another worker needs to go on behind it. */
export interface Chunk {
  readonly chunk: unknown;
  /** Undefined if an answer cannot go on here. */
  readonly resume?: unknown;
  /** What the handler has said of the answer over HTTP. */
  readonly http?: HttpAnswer;
}

/**
 * How many chunks may be on their way to the page or wait there to be read. With two, the worker makes one while the
 * page reads the other.
 */
const ROOM = 2;

/**
 * The chunks of the answer to one streamed request, between the worker that sends them and the caller that reads them.
 */
export class Chunks {
  /**
   * Called when a chunk was read, so that there is room for another one. Whoever sends the request to a worker sets it.
   */
  onRead: (() => void) | undefined;
  /** Called when a chunk has arrived. */
  onChunk: (() => void) | undefined;
  #unread: Chunk[] = [];
  /** How many unread chunks are of workers that were lost: the first ones. They take no room. */
  #kept = 0;
  #resume: unknown;
  #wasRead = false;
  readonly #restarts: boolean;

  /**
   * @param options.restarts whether the chunks may start again although the caller has read some: those of another run
   *   replace them, as progress does
   * @param options.resume what came with the last chunk that another page has
   */
  constructor({ restarts = false, resume }: { readonly restarts?: boolean; readonly resume?: unknown } = {}) {
    this.#restarts = restarts;
    this.#resume = resume;
  }

  /** How many chunks a worker may send. */
  get room(): number {
    return ROOM + this.#kept - this.#unread.length;
  }

  /** Whether the worker has to wait until the caller reads a chunk. */
  get isFull(): boolean {
    return this.room <= 0;
  }

  /** What came with the last chunk; undefined before the first, and if the answer cannot go on behind it. */
  get resume(): unknown {
    return this.#resume;
  }

  /** Whether another run may follow: from the start, or behind the last chunk. */
  get replayable(): boolean {
    return !this.#wasRead || this.#restarts || this.#resume !== undefined;
  }

  get hasUnread(): boolean {
    return this.#unread.length > 0;
  }

  push(chunk: Chunk): void {
    this.#unread.push(chunk);
    this.#resume = chunk.resume;
    this.onChunk?.();
  }

  /** Returns the oldest unread chunk. To be called only while `hasUnread`. */
  take(): Chunk {
    const chunk = this.#unread.shift()!;
    this.#wasRead = true;
    if (this.#kept > 0) this.#kept -= 1;
    else this.onRead?.();
    return chunk;
  }

  /** Forgets the unread chunks unless the answer goes on behind them. */
  lose(): void {
    if (this.#resume === undefined) this.clear();
    this.#kept = this.#unread.length;
  }

  /** Forgets the unread chunks: nobody wants them. */
  clear(): void {
    this.#unread = [];
    this.#kept = 0;
  }
}

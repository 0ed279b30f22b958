import type { HttpAnswer } from '../../contract/http.js';

/** A chunk of an answer, with what another worker needs to continue after it. */
export interface Chunk {
  readonly chunk: unknown;
  /** Undefined if another worker cannot continue the answer here. */
  readonly resume?: unknown;
  /** What the handler has said of the answer over HTTP. */
  readonly http?: HttpAnswer;
}

/**
 * How many chunks may be under way to the page or wait there to be read. With two, the worker makes one while the
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
  /** How many of the first unread chunks are from workers that were lost. They take no room. */
  #retained = 0;
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
    return ROOM + this.#retained - this.#unread.length;
  }

  /** Whether the worker has to wait until the caller reads a chunk. */
  get isFull(): boolean {
    return this.room <= 0;
  }

  /** What came with the last chunk; undefined before the first, and if the answer cannot continue after it. */
  get resume(): unknown {
    return this.#resume;
  }

  /** Whether another run may follow: from the start, or after the last chunk. */
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
    if (this.#retained > 0) this.#retained -= 1;
    else this.onRead?.();
    return chunk;
  }

  /** Drops the unread chunks unless the answer continues after them. */
  lose(): void {
    if (this.#resume === undefined) this.clear();
    this.#retained = this.#unread.length;
  }

  /** Drops the unread chunks: nobody wants them. */
  clear(): void {
    this.#unread = [];
    this.#retained = 0;
  }
}

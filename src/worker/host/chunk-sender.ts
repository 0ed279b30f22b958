import { TabServeError } from '../../contract/errors.js';
import { abortError } from '../../shared/abort.js';
import { transferablesOf } from '../outputs/transfer.js';
import { notCloneable } from './endpoint.js';

/** Sends the chunks of one streamed answer to the page in order, never more than the page has room for. */
export class ChunkSender {
  readonly #post: (chunk: unknown, resume: unknown, transferables: Transferable[]) => void;
  readonly #signal: AbortSignal;
  /** Chunks for which the page has room. */
  #room: number;
  /** Chunks that wait for room, the oldest first. */
  readonly #waiting: { readonly resolve: () => void; readonly reject: (error: TabServeError) => void }[] = [];
  /** Why nothing is sent any more; undefined as long as chunks are sent. */
  #over: TabServeError | undefined;
  /** Why a chunk could not be sent. */
  #failure: TabServeError | undefined;
  #onEmpty = (): void => {};

  /**
   * @param room chunks for which the page has room at first
   * @param post sends a chunk, and what another worker needs to continue after it. @throws `DataCloneError`
   * @param signal aborts when no caller waits for the answer any more
   */
  constructor(
    room: number,
    post: (chunk: unknown, resume: unknown, transferables: Transferable[]) => void,
    signal: AbortSignal,
  ) {
    this.#room = room;
    this.#post = post;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#stop(abortError(signal)), { once: true });
  }

  /**
   * Sends a chunk as soon as the page has room for it. A handler need not await it: `allSent` reports what went wrong.
   * @throws `aborted`, `not-cloneable`; `handler-failed` after `end`
   */
  send(chunk: unknown, resume: unknown): Promise<void> {
    const sending = this.#send(chunk, resume);
    sending.catch(() => {});
    return sending;
  }

  async #send(chunk: unknown, resume: unknown): Promise<void> {
    if (this.#over) throw this.#over;
    if (this.#room > 0) this.#room -= 1;
    else await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    try {
      this.#post(chunk, resume, [...transferablesOf(chunk)]);
    } catch (error) {
      this.more();
      const failure = notCloneable(error, 'A part of the answer');
      this.#failure ??= failure;
      throw failure;
    }
  }

  /** Records that the page has room for one more chunk. */
  more(): void {
    const next = this.#waiting.shift();
    if (next) next.resolve();
    else this.#room += 1;
    if (this.#waiting.length === 0) this.#onEmpty();
  }

  /**
   * Waits until no chunk waits for room: a handler may have sent chunks without awaiting them.
   * @throws `aborted`; `not-cloneable` if a chunk could not be sent
   */
  async allSent(): Promise<void> {
    if (this.#waiting.length > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
    if (this.#signal.aborted) throw abortError(this.#signal);
    if (this.#failure) throw this.#failure;
  }

  /** Ends the answer: a chunk that is sent later is refused. */
  end(): void {
    this.#stop(
      new TabServeError('handler-failed', 'context.send was called after the request had been answered. Await it.'),
    );
  }

  #stop(error: TabServeError): void {
    this.#over ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#over);
    this.#onEmpty();
  }
}

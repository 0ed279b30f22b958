import { asTabServeError, blameOf, PredictionError, TabServeError } from '../../contract/errors.js';
import { streamAbortError } from '../../shared/abort.js';
import type { RequestOptions } from '../requests/request-options.js';
import type { Requester } from '../requests/requester.js';
import { Chunks } from '../requests/chunks.js';

/**
 * Returns the chunks of the answer to one input, and its result as the last item. The request is sent when the stream is
 * first read, and aborted when its reader stops before the end. A failure follows the chunks that arrived before it; an
 * abort, a timeout and `dispose` come at once. A stream is read once.
 */
export function streamAnswer<T>(
  requester: Requester,
  input: readonly [unknown],
  options: RequestOptions,
): AsyncIterable<T> {
  return readOnce(
    () =>
      new AnswerReader<T>(async (chunks, stop) => {
        const [result] = await requester
          .send(input, options, { streamed: { chunks, stop } })
          .catch((error: TabServeError) => {
            throw error.code === 'aborted' && options.signal?.aborted ? streamAbortError(options.signal) : error;
          });
        if (result instanceof PredictionError) throw result;
        return result as T;
      }),
  );
}

/** Sends a streamed request. @param stop aborts when the caller stops reading @returns the result */
type SendStreamed<T> = (chunks: Chunks, stop: AbortSignal) => Promise<T>;

/** A call of `next` that is not answered yet. */
interface Waiter<T> {
  readonly resolve: (item: IteratorResult<T, undefined>) => void;
  readonly reject: (error: TabServeError) => void;
}

class AnswerReader<T> implements AsyncIterableIterator<T> {
  readonly #send: SendStreamed<T>;
  readonly #chunks = new Chunks();
  readonly #stop = new AbortController();
  #waiters: readonly Waiter<T>[] = [];
  #started = false;
  /** The end of the stream; undefined as long as the request runs, and empty when it has been read. */
  #end: { result?: T; error?: TabServeError } | undefined;

  constructor(send: SendStreamed<T>) {
    this.#send = send;
    this.#chunks.onChunk = () => this.#deliver();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (!this.#started) this.#start();
    return new Promise((resolve, reject) => {
      this.#waiters = [...this.#waiters, { resolve, reject }];
      this.#deliver();
    });
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#started = true;
    this.#chunks.clear();
    this.#end = {};
    this.#deliver();
    this.#stop.abort(new TabServeError('aborted', 'The stream is no longer read.'));
    return Promise.resolve({ done: true, value: undefined });
  }

  #start(): void {
    this.#started = true;
    this.#send(this.#chunks, this.#stop.signal).then(
      (result) => this.#finish({ result }),
      (cause: unknown) => {
        const error = asTabServeError(cause);
        if (blameOf(error.code) === 'app') this.#chunks.clear();
        this.#finish({ error });
      },
    );
  }

  #finish(end: { result: T } | { error: TabServeError }): void {
    this.#end ??= end;
    this.#deliver();
  }

  #deliver(): void {
    while (this.#waiters.length > 0 && (this.#chunks.hasUnread || this.#end)) {
      const [{ resolve, reject }, ...others] = this.#waiters as [Waiter<T>, ...Waiter<T>[]];
      this.#waiters = others;
      if (this.#chunks.hasUnread) resolve({ done: false, value: this.#chunks.take().chunk as T });
      else {
        const { error, ...end } = this.#end!;
        this.#end = {};
        if (error) reject(error);
        else if ('result' in end) resolve({ done: false, value: end.result as T });
        else resolve({ done: true, value: undefined });
      }
    }
  }
}

/**
 * Returns an iterable that can be read once: each of two loops over one stream would miss what the other one reads.
 * @throws `invalid-input`, from the second `for await`
 */
export function readOnce<T>(read: () => AsyncIterator<T, undefined>): AsyncIterable<T> {
  let isRead = false;
  return {
    [Symbol.asyncIterator]() {
      if (isRead)
        throw new TabServeError(
          'invalid-input',
          'This stream is being read, or was read before. Ask the client for another one.',
        );
      isRead = true;
      return read();
    },
  };
}

import type { Handler } from '../../contract/handler.js';
import type { ParamsOf, SequenceResultOf } from '../../contract/handler-types.js';
import { PredictionError, TabServeError } from '../../contract/errors.js';
import { resolveSettings, SEQUENCE_SETTINGS, type SequenceSettings } from '../../contract/settings.js';
import type { Clock } from '../../shared/clock.js';
import type { ClientFrames, FramesOptions } from '../streams/frame-source.js';
import type { FrameAnswer } from '../streams/frame-reader.js';
import type { FrameSequence } from '../streams/read-frames.js';
import type { ClientInput, RequestOptions } from '../requests/request-options.js';
import { readCallOptions } from '../../shared/read-options.js';
import type { Sending } from '../requests/requester.js';
import type { SequenceState } from '../requests/job.js';

/** What `openSequence` takes. */
export type SequenceOptions = SequenceSettings;

/** What a sequence needs of its client. */
export interface SequenceOwner {
  readonly clock: Clock;
  /** Aborts when the client is disposed of. */
  readonly disposed: AbortSignal;
  /** Sends one request of the sequence, whose state it updates when the answer is there. Returns the one result. */
  readonly request: (
    input: unknown,
    options: RequestOptions,
    sequence: NonNullable<Sending['sequence']>,
  ) => Promise<readonly unknown[]>;
  /** Answers frames that belong to the sequence. */
  readonly frames: (
    source: never,
    options: FramesOptions,
    sequence: FrameSequence,
  ) => AsyncIterable<FrameAnswer<unknown>>;
}

/** Number of sequences on this page so far. */
let sequences = 0;

/**
 * Requests that build on one another, such as the segments of a recording. The page retains the handler's state of the
 * sequence, which comes with each answer, and sends it to a worker that has not cached it. So any worker can run the
 * next request, also after another one was lost. A request that fails, is aborted or times out leaves the state as it
 * was.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- every sequence is a `Sequence`, whatever its handler
export class Sequence<H extends Handler = any, Result = SequenceResultOf<H>> implements AsyncDisposable {
  readonly #owner: SequenceOwner;
  readonly #idleTimeout: number | undefined;
  readonly #ended = new AbortController();
  readonly #current: SequenceState;
  #busy = false;
  #cancelTimer = (): void => {};

  /** @throws `invalid-input` naming a wrong option */
  constructor(options: SequenceOptions, owner: SequenceOwner) {
    const given = readCallOptions(options, 'openSequence', ['idleTimeout']);
    this.#idleTimeout = resolveSettings(SEQUENCE_SETTINGS, { ...given }, 'invalid-input').idleTimeout;
    this.#owner = owner;
    this.#current = { id: String(++sequences), state: undefined };
    owner.disposed.addEventListener('abort', () => this.#end(owner.disposed.reason as TabServeError), {
      signal: this.#ended.signal,
    });
    this.#startTimer();
  }

  /** Its id among the sequences of the page: what a handler gets from `context.sequenceId`. */
  get id(): string {
    return this.#current.id;
  }

  /** Aborts when the sequence has ended, with the error that says why. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /**
   * Predicts the sequence's next input.
   * @throws what `client.predict` throws; `queue-full` while another request of this sequence is under way; after the
   *   sequence's end `disposed`, or `timeout` if `idleTimeout` has ended it
   */
  async predict(input: ClientInput<H>, options: RequestOptions<ParamsOf<H>> = {}): Promise<Result> {
    const [result] = await this.#run((sequence) => this.#owner.request(input, options, sequence));
    if (result instanceof PredictionError) throw result;
    return result as Result;
  }

  /**
   * Returns the answers to the frames of a camera, a video or a stream, as `client.frames` does, each with the state
   * that the one before has left. A frame that is lost with its worker is dropped, and the next one continues from the
   * last state.
   *
   * Reading throws what it throws for `client.frames`; `queue-full` while another request of this sequence is under
   * way; what has ended the sequence.
   */
  frames(source: ClientFrames<H>, options: FramesOptions<ParamsOf<H>> = {}): AsyncIterable<FrameAnswer<Result>> {
    const sequence: FrameSequence = { ended: this.#ended.signal, run: (send) => this.#run(send) };
    return this.#owner.frames(source as never, options as FramesOptions, sequence) as AsyncIterable<
      FrameAnswer<Result>
    >;
  }

  /** Sends one request. */
  async #run<T>(send: (sequence: NonNullable<Sending['sequence']>) => Promise<T>): Promise<T> {
    if (this.#ended.signal.aborted) throw this.#ended.signal.reason as TabServeError;
    if (this.#busy)
      throw new TabServeError(
        'queue-full',
        'This sequence is still answering a request, and takes one at a time. Await that request first, or open a sequence for each recording.',
      );
    this.#busy = true;
    this.#cancelTimer();
    try {
      return await send({ current: this.#current, ended: this.#ended.signal });
    } finally {
      this.#busy = false;
      this.#startTimer();
    }
  }

  /** Ends the sequence and forgets its state. A request that is under way is rejected with `disposed`. */
  end(): Promise<void> {
    this.#end(new TabServeError('disposed', 'The sequence has ended. Open another one with openSequence().'));
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  #startTimer(): void {
    const limit = this.#idleTimeout;
    if (limit === undefined || this.#ended.signal.aborted) return;
    const message = `The sequence has ended: no request came for ${limit} ms, which is its idleTimeout. Open another one with openSequence().`;
    this.#cancelTimer = this.#owner.clock.schedule(() => this.#end(new TabServeError('timeout', message)), limit);
  }

  #end(error: TabServeError): void {
    if (this.#ended.signal.aborted) return;
    this.#cancelTimer();
    this.#current.state?.release();
    this.#current.state = undefined;
    this.#ended.abort(error);
  }
}

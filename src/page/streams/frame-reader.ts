import { asTabServeError, blameOf, TabServeError } from '../../contract/errors.js';
import { streamAbortError } from '../../shared/abort.js';
import type { Clock } from '../../shared/clock.js';
import type { Prepared } from '../requests/inputs.js';
import type { Frame, StartFrames } from './frame-source.js';
import { FrameInput, type NumberedFrame } from './frame-input.js';

/** The answer to one frame of a source. */
export interface FrameAnswer<Result> {
  /** What `predict` returns for the frame. */
  readonly result: Result;
  /**
   * The frame's time in microseconds: the timestamp of a VideoFrame; for an ImageBitmap of a stream, when it arrived,
   * since the page was opened. For a `<video>`, it is the time of the frame in the video; of the first item, if the
   * browser does not tell that time, the position in the video. It decreases only if the video seeks or loops.
   */
  readonly timestamp: number;
  /**
   * How many frames of the source came between the last answered one and this one, and were dropped: a newer one
   * replaced them, `fps` left them out, or their worker was lost.
   */
  readonly dropped: number;
  /**
   * The frame itself, for drawing the result over the picture that it belongs to; undefined if the source delivers
   * bitmaps. It is closed when the next item is requested: clone it to retain it.
   */
  readonly frame: VideoFrame | undefined;
}

/** What a reader of frames needs; all of it is injected. */
export interface FrameReaderOptions<Result> {
  readonly clock: Clock;
  readonly start: StartFrames;
  /** Sends a frame. @param stop aborts when its answer is no longer wanted */
  readonly send: (frame: Prepared, stop: AbortSignal) => Promise<Result>;
  /** Returns how many frames may run at once. */
  readonly limit: () => number;
  /**
   * If one frame runs at a time, and answers come at intervals shorter than this many milliseconds, a second frame is
   * sent, so that the worker need not wait for the page between two frames. With several workers this does not help:
   * the frame might wait for the worker that is free last, and its answer would come after a newer frame's.
   */
  readonly spareBelow: number;
  /** The minimum number of milliseconds between two frames. */
  readonly interval: number;
  /** Ends the stream with an error. */
  readonly signal: AbortSignal;
}

/** An answer that nobody has read yet. */
interface Waiting<Result> {
  readonly input: FrameInput;
  readonly result: Result;
  /** When it came, and how long it took, in milliseconds. */
  readonly at: number;
  readonly took: number;
}

interface Waiter<Result> {
  readonly resolve: (item: IteratorResult<FrameAnswer<Result>, undefined>) => void;
  readonly reject: (error: TabServeError) => void;
}

/**
 * Reads the answers to the frames of a source that does not wait. Of the frames that arrive while the workers are busy,
 * the latest waits and the others are closed. While an answer waits for the caller, no further frame is sent. An answer
 * that has waited for longer than a new one takes is dropped, and a newer frame is sent.
 */
export class FrameReader<Result> implements AsyncIterableIterator<FrameAnswer<Result>> {
  readonly #options: FrameReaderOptions<Result>;
  readonly #stop = new AbortController();
  #state: 'new' | 'running' | 'ended' = 'new';
  #stopSource = (): void => {};
  #sourceEnded = false;
  /** Frames that have arrived. */
  #arrived = 0;
  /** The number of the last frame whose answer was read. */
  #read = 0;
  #latest: NumberedFrame | undefined;
  /** The request that no worker has taken yet. */
  #queued: FrameInput | undefined;
  /** Requests that are not answered. */
  readonly #running = new Set<Promise<void>>();
  #answer: Waiting<Result> | undefined;
  /** The frame of the item that the caller has. */
  #shown: VideoFrame | undefined;
  #waiters: readonly Waiter<Result>[] = [];
  /** Why the stream has ended; this is reported once. */
  #error: TabServeError | undefined;
  /** When the next frame may be sent, by the clock. */
  #due = -Infinity;
  #cancelTimer: (() => void) | undefined;
  /** When the last answer came, and how long after the one before it. */
  #answeredAt = -Infinity;
  #answerInterval = Infinity;

  constructor(options: FrameReaderOptions<Result>) {
    this.#options = options;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<FrameAnswer<Result>, undefined>> {
    this.#closeShown();
    if (this.#state === 'new') this.#start();
    return new Promise((resolve, reject) => {
      this.#waiters = [...this.#waiters, { resolve, reject }];
      this.#advance();
    });
  }

  /**
   * Ends when its requests have ended, because until then a sequence that the frames belong to would refuse another
   * one.
   */
  async return(): Promise<IteratorResult<FrameAnswer<Result>, undefined>> {
    this.#closeShown();
    this.#end();
    await Promise.all(this.#running);
    return { done: true, value: undefined };
  }

  #start(): void {
    this.#state = 'running';
    const { signal, start } = this.#options;
    if (signal.aborted) this.#end(streamAbortError(signal));
    else signal.addEventListener('abort', () => this.#end(streamAbortError(signal)), { signal: this.#stop.signal });
    try {
      // If it has ended already, the source is started only to be stopped: a stream may hold frames.
      const stop = start({ frame: (frame) => this.#arrive(frame), end: (error) => this.#sourceEnds(error) });
      if (this.#stop.signal.aborted) stop();
      else this.#stopSource = stop;
    } catch (error) {
      this.#end(asTabServeError(error));
    }
  }

  // ── Events ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  #arrive(frame: Frame): void {
    if (this.#state !== 'running') return frame.picture.close();
    this.#keep({ ...frame, number: ++this.#arrived });
    this.#advance();
  }

  #sourceEnds(error: TabServeError | undefined): void {
    if (error) return this.#end(error);
    this.#sourceEnded = true;
    this.#advance();
  }

  /** Stores the answer, unless a newer frame was answered before. */
  #answered(input: FrameInput, result: Result, took: number): void {
    const now = this.#options.clock.now();
    this.#answerInterval = now - this.#answeredAt;
    this.#answeredAt = now;
    const before = this.#answer;
    if (this.#state === 'running' && numberOf(input) > Math.max(this.#read, before ? numberOf(before.input) : 0)) {
      this.#answer = { input, result, took, at: now };
      before?.input.copy?.close();
    } else input.copy?.close();
    this.#advance();
  }

  /** Drops a frame that was lost with its worker, and continues the stream. Any other failure ends the stream. */
  #failed(error: TabServeError): void {
    if (blameOf(error.code) === 'worker') this.#advance();
    else this.#end(error);
  }

  // ── What follows ───────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Gives the caller an answer if there is one, and sends a frame if that is possible. To be called after every event.
   */
  #advance(): void {
    if (this.#state === 'running') {
      this.#dropStale();
      this.#deliver();
      this.#send();
      if (this.#sourceEnded && !this.#latest && this.#running.size === 0 && !this.#answer) this.#end();
    }
    if (this.#state === 'ended') this.#settle();
  }

  /** Drops an answer that has waited for the caller for longer than a newer frame's answer takes. */
  #dropStale(): void {
    const answer = this.#answer;
    if (answer && this.#latest && this.#waiters.length > 0 && this.#options.clock.now() - answer.at > answer.took)
      this.#dropAnswer();
  }

  #dropAnswer(): void {
    this.#answer?.input.copy?.close();
    this.#answer = undefined;
  }

  #closeShown(): void {
    this.#shown?.close();
    this.#shown = undefined;
  }

  #deliver(): void {
    const [waiter, ...others] = this.#waiters;
    if (!this.#answer || !waiter) return;
    const { input, result } = this.#answer;
    const { number, timestamp } = input.frame!;
    this.#answer = undefined;
    this.#waiters = others;
    const dropped = number - this.#read - 1;
    this.#read = number;
    // Callers that ask for several items at once have several frames, of which the last is still open.
    this.#closeShown();
    this.#shown = input.copy;
    waiter.resolve({ done: false, value: { result, timestamp, dropped, frame: input.copy } });
  }

  #send(): void {
    const { clock, limit, spareBelow, send } = this.#options;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const atOnce = limit();
    const most = atOnce === 1 && this.#answerInterval < spareBelow ? 2 : atOnce;
    if (!this.#latest || this.#queued || this.#answer || this.#running.size >= most) return;
    const wait = this.#due - clock.now();
    if (wait > 0) {
      this.#cancelTimer = clock.schedule(() => this.#advance(), wait);
      return;
    }
    let sentAt = clock.now();
    const take = (): NumberedFrame => {
      sentAt = clock.now();
      return this.#take(sentAt);
    };
    const input = new FrameInput(take, (frame) => this.#keep(frame));
    this.#queued = input;
    const settled = (): void => {
      this.#running.delete(request);
      if (this.#queued === input) this.#queued = undefined;
    };
    const request = send(input, this.#stop.signal).then(
      (result) => {
        settled();
        this.#answered(input, result, clock.now() - sentAt);
      },
      (error: unknown) => {
        settled();
        input.copy?.close();
        this.#failed(asTabServeError(error));
      },
    );
    this.#running.add(request);
  }

  /** Returns the latest frame for a worker that is free now. */
  #take(now: number): NumberedFrame {
    const frame = this.#latest!;
    this.#latest = this.#queued = undefined;
    const { interval } = this.#options;
    // Counted from when it was due, so that a frame that is a little late does not delay all later ones.
    this.#due = (now - this.#due < interval ? this.#due : now) + interval;
    return frame;
  }

  /** Replaces the latest frame by a newer one, and closes the older of the two. */
  #keep(frame: NumberedFrame): void {
    const [newer, older] = (this.#latest?.number ?? 0) > frame.number ? [this.#latest!, frame] : [frame, this.#latest];
    older?.picture.close();
    this.#latest = newer;
  }

  #end(error?: TabServeError): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#error = error;
    this.#dropAnswer();
    this.#latest?.picture.close();
    this.#latest = undefined;
    this.#cancelTimer?.();
    this.#stop.abort(new TabServeError('aborted', 'The frames are no longer read.'));
    this.#stopSource();
    this.#settle();
  }

  #settle(): void {
    for (const { resolve, reject } of this.#waiters) {
      const error = this.#error;
      this.#error = undefined;
      if (error) reject(error);
      else resolve({ done: true, value: undefined });
    }
    this.#waiters = [];
  }
}

/** Returns the number of the frame that was sent. */
function numberOf({ frame }: FrameInput): number {
  return frame!.number;
}

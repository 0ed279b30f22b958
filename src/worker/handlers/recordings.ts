import { asTabServeError, TabServeError } from '../../contract/errors.js';
import type { Context } from '../../contract/handler.js';
import type { HearingProgress } from '../../contract/hearing-progress.js';
import { nextTask } from '../../shared/next-task.js';
import { rowsOf } from '../audio/live-samples.js';
import type { Recording } from '../audio/read-audio.js';
import { SampleReader } from '../audio/sample-reader.js';

/** What a handler says of the recordings that it hears. */
export interface RecordingLimits {
  /** Samples per second of the model. */
  readonly sampleRate: number;
  /** The fewest samples that the model takes. */
  readonly least: number;
  /** The most seconds of a recording. */
  readonly maxDuration: number;
}

/**
 * The recordings of batches. They are decoded while they are heard, part by part, so that an hour takes little more
 * memory than a minute.
 */
export class Recordings {
  readonly #readers = new WeakMap<Context, Map<number, SampleReader>>();

  /**
   * Opens the recording of a row, or what is heard with a piece of a sequence: it may be none. Its beginning is read.
   * @throws `invalid-input` if it cannot be read, is too long, or has fewer samples than the model takes
   */
  async open(
    recording: Recording,
    index: number,
    context: Context,
    { sampleRate, least, maxDuration }: RecordingLimits,
  ): Promise<SampleReader> {
    const isPiece = context.sequenceId(index) !== undefined;
    const reader = new SampleReader(recording, sampleRate, isPiece ? Infinity : maxDuration, context);
    rowsOf(this.#readers, context).set(index, reader);
    const { length } = await reader.read(0, Math.max(1, least));
    if (isPiece || length >= least) return reader;
    throw new TabServeError(
      'invalid-input',
      `The audio has ${length} samples at ${sampleRate} Hz, and the model needs at least ${least}.`,
    );
  }

  /** Returns the recordings of the rows that have not failed, by their indices. */
  of(context: Context): readonly (readonly [index: number, reader: SampleReader])[] {
    return [...rowsOf(this.#readers, context)].filter(([index]) => !context.failures.has(index));
  }

  /** Stops the decoders of a batch. */
  async close(context: Context): Promise<void> {
    await Promise.all([...rowsOf(this.#readers, context).values()].map((reader) => reader.close()));
  }
}

/**
 * Fails the row whose recording cannot be read.
 * @throws any other error, which is no fault of the recording
 */
export function failUnreadable(reader: SampleReader, error: unknown, index: number, context: Context): void {
  if (context.signal.aborted || error !== reader.failure) throw error;
  context.fail(index, asTabServeError(error, 'preprocess'));
}

/**
 * Tells the page and a workflow how far the work on a recording is, and lets other work of the worker run. If the worker
 * is lost, another one begins again.
 * @throws the abort error, if nobody waits for the answer any more
 */
export async function report(progress: HearingProgress, index: number, context: Context): Promise<void> {
  await context.send(index, progress, progress);
  context.heartbeat(progress);
  await nextTask();
  context.signal.throwIfAborted();
}

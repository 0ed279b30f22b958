import type { AudioInput } from '../../contract/audio.js';
import { TabServeError } from '../../contract/errors.js';
import type { Context } from '../../contract/handler.js';
import { concatenate } from '../tensors/concatenate.js';
import { checkDuration, openAudio } from './read-audio.js';
import { Resampler, type ResamplerState } from './resampler.js';
import { checkFinite } from './samples.js';

/** What is left of the pieces of a live recording so far. */
export interface LiveSamples {
  /** The sample rate of the pieces. */
  readonly sampleRate: number;
  readonly resampler: ResamplerState;
  /** Samples that do not fill a step yet. */
  readonly rest: Float32Array;
}

/**
 * Reads a piece of a live recording at another sample rate. Returns the samples that fill steps, which a later piece
 * cannot change.
 * @param before what is left of the pieces before; undefined for the first one
 * @param most seconds of a piece
 * @throws `invalid-input`
 */
export async function readPiece(
  input: AudioInput,
  before: LiveSamples | undefined,
  { rate, step, most }: { readonly rate: number; readonly step: number; readonly most: number },
): Promise<{ readonly samples: Float32Array; readonly live: LiveSamples }> {
  const recording = await openAudio(input);
  const { sampleRate } = recording;
  if (before && before.sampleRate !== sampleRate)
    throw new TabServeError(
      'invalid-input',
      `The sequence began with ${before.sampleRate} samples per second, and this piece has ${sampleRate}. Open a sequence for each recording.`,
    );
  checkDuration(recording, most);
  const resampler = new Resampler(sampleRate, rate, before?.resampler);
  const parts: Float32Array[] = [before?.rest ?? new Float32Array(0)];
  for await (const block of recording.blocks()) {
    checkFinite(block);
    parts.push(resampler.push(block));
  }
  const samples = concatenate(parts);
  const whole = samples.length - (samples.length % step);
  const live = { sampleRate, resampler: resampler.state, rest: samples.slice(whole) };
  return { samples: samples.slice(0, whole), live };
}

/** Returns what is known of the rows of a batch, by their indices; an empty map if nothing is yet. */
export function rowsOf<Value>(batches: WeakMap<Context, Map<number, Value>>, context: Context): Map<number, Value> {
  const rows = batches.get(context) ?? new Map<number, Value>();
  batches.set(context, rows);
  return rows;
}

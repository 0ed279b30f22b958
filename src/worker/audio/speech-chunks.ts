/** Long sound in chunks that overlap, as transformers' speech recognition divides it. */
import type { SampleReader } from './sample-reader.js';

/** A chunk of a recording, in samples. */
export interface SpeechChunk {
  readonly start: number;
  readonly end: number;
  /** How many frames of the model to leave out at its start, and the frame after the last one to take. */
  readonly from: number;
  readonly to: number;
  readonly isLast: boolean;
  readonly samples: Float32Array;
}

/**
 * Divides a recording, while it is read. What a model hears at the edges of a chunk is left out: a sixth of it on each
 * side. There is at least one chunk, which may be empty.
 * @param size of a chunk, in samples
 * @param ratio samples for each frame of the model
 * @throws `invalid-input` if the recording cannot be read
 */
export async function* speechChunks(
  reader: SampleReader,
  size: number,
  ratio: number,
): AsyncGenerator<SpeechChunk, undefined> {
  const whole = Math.round(size / ratio) * ratio;
  const edge = Math.round(size / 6 / ratio) * ratio;
  const step = whole - 2 * edge;
  for (let start = 0; ; start += step) {
    // One more, which tells whether this chunk is the last one. A chunk that has no middle would be no help.
    const read = await reader.read(start, step > 0 ? start + whole + 1 : Infinity);
    const isLast = !(step > 0) || read.length <= whole;
    const samples = isLast ? read : read.subarray(0, whole);
    const end = start + samples.length;
    const [left, right] = [start === 0 ? 0 : edge, isLast ? 0 : edge];
    const frames = Math.round(samples.length / ratio);
    const of = (part: number): number => Math.round((part / samples.length) * frames);
    const isWhole = isLast && start === 0;
    yield {
      start,
      end,
      samples,
      isLast,
      ...(isWhole ? { from: 0, to: Infinity } : { from: of(left), to: frames - of(right) }),
    };
    if (isLast) return undefined;
  }
}

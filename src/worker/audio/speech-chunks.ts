/** Long sound in chunks that overlap, as transformers' speech recognition divides it. */
import type { SampleReader } from './sample-reader.js';
import { soundWindows, type SoundWindow } from './sound-windows.js';

/** A chunk of a recording, in samples. */
export interface SpeechChunk extends SoundWindow {
  readonly end: number;
  /** How many frames of the model to leave out at its start, and the frame after the last one to take. */
  readonly from: number;
  readonly to: number;
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
  // A chunk that has no middle would be no help.
  for await (const window of soundWindows(reader, step > 0 ? whole : Infinity, step)) {
    const { start, samples, isLast } = window;
    const end = start + samples.length;
    const [left, right] = [start === 0 ? 0 : edge, isLast ? 0 : edge];
    const frames = Math.round(samples.length / ratio);
    const of = (part: number): number => Math.round((part / samples.length) * frames);
    const isWhole = isLast && start === 0;
    yield { ...window, end, ...(isWhole ? { from: 0, to: Infinity } : { from: of(left), to: frames - of(right) }) };
  }
  return undefined;
}

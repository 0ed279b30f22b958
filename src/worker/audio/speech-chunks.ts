/** Long sound in chunks that overlap, as transformers' speech recognition divides it. */

/** A chunk of a recording, in samples. */
export interface SpeechChunk {
  readonly start: number;
  readonly end: number;
  /** How many frames of the model to leave out at its start, and the frame after the last one to take. */
  readonly from: number;
  readonly to: number;
}

/**
 * Divides a recording. What a model hears at the edges of a chunk is left out: a sixth of it on each side.
 * @param length of the recording, in samples
 * @param size of a chunk, in samples
 * @param ratio samples for each frame of the model
 */
export function speechChunks(length: number, size: number, ratio: number): readonly SpeechChunk[] {
  const whole = Math.round(size / ratio) * ratio;
  const edge = Math.round(size / 6 / ratio) * ratio;
  const step = whole - 2 * edge;
  // A chunk that has no middle would be no help.
  if (length <= whole || step <= 0) return [{ start: 0, end: length, from: 0, to: Infinity }];
  const chunks: SpeechChunk[] = [];
  for (let start = 0; start < length; start += step) {
    const end = Math.min(start + whole, length);
    const isLast = start + whole >= length;
    const [left, right] = [start === 0 ? 0 : edge, isLast ? 0 : edge];
    const samples = end - start;
    const frames = Math.round(samples / ratio);
    const of = (part: number): number => Math.round((part / samples) * frames);
    if (samples > left) chunks.push({ start, end, from: of(left), to: frames - of(right) });
    if (isLast) break;
  }
  return chunks;
}

/** A long recording in windows of one length, which are decoded when they are asked for. */
import type { HearingProgress } from '../../contract/hearing-progress.js';
import type { SampleReader } from './sample-reader.js';

/** A window of a recording, in samples. */
export interface SoundWindow {
  readonly start: number;
  /** The last window may be shorter. */
  readonly samples: Float32Array;
  readonly isLast: boolean;
  /** How many windows there are up to this one, and in all. */
  readonly progress: HearingProgress;
}

/**
 * Yields the windows of a recording, up to the first one that reaches its end. There is at least one, which may be empty.
 * @param size of a window, in samples; Infinity for the whole recording
 * @param step from one window to the next, in samples
 * @throws `invalid-input` if the recording cannot be read
 */
export async function* soundWindows(
  reader: SampleReader,
  size: number,
  step: number,
): AsyncGenerator<SoundWindow, undefined> {
  // By what its file says of its length, which may be wrong.
  const expected = size === Infinity ? 1 : 1 + Math.ceil((reader.length - size) / step);
  for (let done = 1; ; done++) {
    const start = (done - 1) * (size === Infinity ? 0 : step);
    // One sample more tells whether this window is the last one.
    const read = await reader.read(start, start + size + 1);
    const isLast = read.length <= size;
    const samples = isLast ? read : read.subarray(0, size);
    yield { start, samples, isLast, progress: { done, total: isLast ? done : Math.max(done + 1, expected) } };
    if (isLast) return undefined;
  }
}

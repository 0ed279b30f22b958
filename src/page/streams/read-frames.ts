import { PredictionError } from '../../contract/errors.js';
import { FRAME_SETTINGS, MAX_DELAY_MS, resolveSettings } from '../../contract/settings.js';
import { browserClock } from '../../shared/clock.js';
import type { FramesOptions } from './frame-source.js';
import { readCallOptions } from '../../shared/read-options.js';
import type { Requester, Sending } from '../requests/requester.js';
import { readRequestOptions } from '../requests/request-options.js';
import { FrameReader } from './frame-reader.js';
import { readSource, type FrameSource } from './frame-source.js';

/**
 * Where a frame takes 100 ms or more, the few milliseconds between two frames do not matter, and a frame that waits in
 * the worker would only get older.
 */
const SPARE_BELOW_MS = 100;

/** A sequence that frames belong to. */
export interface FrameSequence {
  /** Aborts when it has ended. */
  readonly ended: AbortSignal;
  /** Sends one request of the sequence. @throws `queue-full` if another one is under way */
  run<T>(send: (sequence: NonNullable<Sending['sequence']>) => Promise<T>): Promise<T>;
}

/**
 * Checks a source of frames and the options, and returns what reads the answers.
 * @param sequence the sequence that the frames belong to: each frame then waits for the answer before it
 * @throws `invalid-input`, `not-cloneable`, `unsupported`
 */
export function readFrames<Result>(
  requester: Requester,
  source: FrameSource,
  options: FramesOptions,
  sequence?: FrameSequence,
): FrameReader<Result> {
  const { fps, signal, params } = readCallOptions(options, 'frames', ['fps', 'signal', 'params']);
  const most = resolveSettings(FRAME_SETTINGS, { fps }, 'invalid-input').fps ?? Infinity;
  const request = readRequestOptions({ ...(signal && { signal }), ...(params && { params }) });
  const ends = [requester.disposed, request.signal, sequence?.ended].filter((one) => one !== undefined);
  return new FrameReader<Result>({
    clock: browserClock,
    start: readSource(source),
    send: async (frame, stop) => {
      const post = (own?: Sending['sequence']): Promise<unknown[]> =>
        requester.sendPrepared([frame], { ...request, signal: stop }, own ? { sequence: own } : {});
      const [result] = await (sequence ? sequence.run(post) : post());
      if (result instanceof PredictionError) throw result;
      return result as Result;
    },
    limit: () => (sequence ? 1 : requester.parallelism),
    spareBelow: sequence ? 0 : SPARE_BELOW_MS,
    interval: Math.min(1000 / most, MAX_DELAY_MS),
    signal: AbortSignal.any(ends),
  });
}

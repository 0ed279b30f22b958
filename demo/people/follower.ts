/** A landmarker whose worker can be killed. */
import { connect, type Backend, type CandidateName, type Progress, type Timings } from '../../src/index.js';
import type { FaceLandmarks, FaceLandmarker, HandLandmarker, HandLandmarks, PoseLandmarker } from '../../src/worker.js';
import type { Kind } from './kinds.js';

/** A face, a hand or a body of a frame. */
export type Found = FaceLandmarks & Partial<Pick<HandLandmarks, 'handedness'>>;

export interface Follower {
  /** Follows everybody in a video, until `signal` aborts. */
  follow(
    video: HTMLVideoElement,
    signal: AbortSignal,
  ): AsyncIterable<{ readonly result: readonly Found[]; readonly frame: VideoFrame | undefined }>;
  /** Ends the worker, as a crash would. */
  kill(): void;
  dispose(): void;
}

export interface FollowerEvents {
  progress(progress: Progress): void;
  /** Is called with the backend that runs the model, and again after a change. */
  runs(backend: Backend): void;
  /** Is called when another worker runs the model, after one was lost; with milliseconds. */
  recovered(took: number): void;
  answered(timings: Timings): void;
  /** Is called when nothing can run the model any longer. */
  failed(error: unknown): void;
}

/** Opens the model of a kind. @throws a `TabServeError`, if it cannot be opened */
export async function openFollower(
  { handler, model }: Kind,
  backends: readonly CandidateName[] | undefined,
  signal: AbortSignal,
  events: FollowerEvents,
): Promise<Follower> {
  let worker: Worker | undefined;
  const client = connect<FaceLandmarker | HandLandmarker | PoseLandmarker>(
    () => (worker = new Worker(new URL('./people.worker.ts', import.meta.url), { type: 'module', name: handler })),
    { model: model.url, ...(backends && { backends }) },
  );
  client.on('backendchange', events.runs);
  client.on('recover', ({ took }) => events.recovered(took));
  client.on('response', ({ timings }) => events.answered(timings));
  client.on('fail', events.failed);
  try {
    await client.initialize({ signal, onProgress: events.progress });
  } catch (error) {
    void client.dispose();
    throw error;
  }
  events.runs(client.backend!);
  return {
    async *follow(video, stop) {
      await using sequence = client.openSequence();
      yield* sequence.frames(video, { signal: stop });
    },
    kill: () => worker?.terminate(),
    dispose: () => void client.dispose(),
  };
}

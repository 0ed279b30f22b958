import { load } from '../../../src/index.ts';
import { frameMaker, HEIGHT, WIDTH, type FrameFormat } from './frame.ts';
import { openMediaPipe } from './mediapipe.ts';

const PAUSE_MS = 20;

export interface ByHandOptions {
  readonly format: FrameFormat;
  readonly warmUps: number;
  readonly rounds: number;
}

/** By contender. */
export interface ByHand {
  /** Milliseconds from the message to the mask, by round. */
  readonly times: Readonly<Record<string, readonly number[]>>;
  /** The mean of the mask of a person, in 0..1: all have done the same work. */
  readonly means: Readonly<Record<string, number>>;
}

interface Answer {
  /** Of each pixel, or of its four channels, of which the last one counts. */
  readonly mask: ArrayLike<number>;
  readonly channels: 1 | 4;
  readonly one: number;
}

/** A frame to a mask in its size, in turns: ours, what is written by hand, and MediaPipe. */
export async function measureByHand({ format, warmUps, rounds }: ByHandOptions): Promise<ByHand> {
  const options = { backends: ['onnx/wasm'], config: { engine: { threads: 1 } } } as const;
  const client = await load<'image_segmenter'>('/models/selfie/', options);
  const segment = await openMediaPipe();
  const contenders: Readonly<Record<string, (frame: VideoFrame) => Promise<Answer>>> = {
    ours: async (frame) => {
      const result = await client.predict(frame, { transfer: true, params: { result: 'mask' } });
      return { mask: result.mask, channels: 1, one: 1 };
    },
    onnx: await openWorker(new Worker(new URL('./by-hand-onnx.worker.ts', import.meta.url), { type: 'module' })),
    tfjs: await openWorker(new Worker(new URL('./by-hand-tfjs.worker.ts', import.meta.url), { type: 'module' })),
    mediaPipe: async (frame) => ({ mask: segment(frame), channels: 1, one: 1 }),
  };
  const photo = await (await fetch('/models/selfie/samples/astronaut.jpg')).blob();
  const make = await frameMaker(WIDTH, HEIGHT, format, photo);
  const names = Object.keys(contenders);
  const times: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  const means: Record<string, number> = {};
  for (let round = -warmUps; round < rounds; round++)
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + warmUps + turn) % names.length]!;
      const frame = make(round * 1000);
      await new Promise((resolve) => void setTimeout(resolve, PAUSE_MS));
      const started = performance.now();
      const { mask, channels, one } = await contenders[name]!(frame);
      if (round >= 0) times[name]!.push(performance.now() - started);
      if (round !== 0) continue;
      let sum = 0;
      for (let at = channels - 1; at < mask.length; at += channels) sum += mask[at]!;
      means[name] = sum / one / (mask.length / channels);
    }
  await client.dispose();
  return { times, means };
}

/** Returns a function that sends a frame to a worker, and returns the data of its answer. */
export async function openWorker(worker: Worker): Promise<(frame: VideoFrame) => Promise<Answer>> {
  const next = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<T>) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    });
  await next<'ready'>();
  return async (frame) => {
    const answer = next<ImageData>();
    worker.postMessage(frame, [frame]);
    return { mask: (await answer).data, channels: 4, one: 255 };
  };
}

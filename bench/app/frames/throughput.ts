import { load } from '../../../src/index.ts';
import { frameMaker } from './frame.ts';

/** Milliseconds between two frames of the source, which is faster than any model. */
const SOURCE_MS = 8;

export interface ThroughputOptions {
  readonly backend: 'wasm' | 'webgpu';
  readonly workers: number;
  readonly width: number;
  readonly height: number;
  readonly rounds: number;
  /** Frames in a round. */
  readonly frames: number;
}

/** Milliseconds by round. */
export interface Throughput {
  /** The median inference of one frame when nothing else runs. */
  readonly inference: number[];
  /** That of the stream's frames: longer if its workers share a core, with one another or with other programs. */
  readonly streamed: number[];
  /** Between two answers of `client.frames`. */
  readonly interval: number[];
}

/** Frames through `client.frames`, in turns with single ones, whose inference is what allows the most frames. */
export async function measureThroughput(options: ThroughputOptions): Promise<Throughput> {
  const { backend, workers, width, height, rounds, frames } = options;
  const client = await load<'image_segmenter'>('/models/selfie/', {
    backends: [`onnx/${backend}`],
    config: { engine: { threads: 1 } },
    minWorkers: workers,
    maxWorkers: workers,
  });
  while ((await client.describe()).workers < (await client.describe()).config.minWorkers)
    await new Promise((resolve) => void setTimeout(resolve, 100));
  const make = await frameMaker(width, height, 'I420');
  const out: Throughput = { inference: [], streamed: [], interval: [] };
  for (let round = -1; round < rounds; round++) {
    let times: number[] = [];
    const stop = client.on('response', ({ timings }) => times.push(timings.inference!));
    for (let frame = 0; frame < frames; frame++) await client.predict(make(frame), { transfer: true });
    const alone = median(times);
    times = [];
    let [answers, started, ended] = [0, 0, 0];
    for await (const _ of client.frames(source(make))) {
      answers += 1;
      if (answers === WARM_UPS) started = performance.now();
      if (answers < WARM_UPS + frames) continue;
      ended = performance.now();
      break;
    }
    stop();
    if (round < 0) continue;
    out.inference.push(alone);
    out.streamed.push(median(times));
    out.interval.push((ended - started) / frames);
  }
  await client.dispose();
  return out;
}

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[times.length >> 1]!;
}

/** Answers until all workers are busy. */
const WARM_UPS = 3;

/** Delivers frames as a camera does: whether they are read or not. */
function source(make: (timestamp: number) => VideoFrame): ReadableStream<VideoFrame> {
  let timer: ReturnType<typeof setInterval>;
  return new ReadableStream<VideoFrame>(
    {
      start: (controller) =>
        void (timer = setInterval(() => {
          if (controller.desiredSize! > 0) controller.enqueue(make(performance.now() * 1000));
        }, SOURCE_MS)),
      cancel: () => clearInterval(timer),
    },
    { highWaterMark: 1 },
  );
}

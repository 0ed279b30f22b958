/** The page's side of the section on frames. `bench/frames.mjs` calls it. */
import { load, type Timings } from '../../../src/index.ts';
import { measureByHand, openWorker } from './contenders.ts';
import { frameMaker, HEIGHT, WIDTH, type FrameFormat } from './frame.ts';
import { measureThroughput } from './throughput.ts';

const PAUSE_MS = 20;

export interface OpenHandlersOptions {
  readonly backend: 'wasm' | 'webgpu';
  readonly format: FrameFormat;
  readonly warmUps: number;
  readonly rounds: number;
}

/** Milliseconds by round, of one frame at a time; together they are `elapsed`. */
export interface Parts {
  /** From the call to the answer. */
  readonly elapsed: number[];
  /** Before the message to the worker and after its answer. */
  readonly page: number[];
  /** Both messages. */
  readonly transfer: number[];
  readonly preprocess: number[];
  readonly inference: number[];
  readonly postprocess: number[];
  /** In the worker, outside of the stages. */
  readonly rest: number[];
}

function openClient(backend: OpenHandlersOptions['backend']) {
  return load<'image_segmenter'>('/models/selfie/', {
    backends: [`onnx/${backend}`],
    config: { engine: { threads: 1 } },
  });
}

/** A camera whose next frame comes when the last one is answered. */
interface Camera {
  /** Delivers a frame, and waits for its mask. */
  readonly show: (frame: VideoFrame) => Promise<void>;
  readonly end: () => Promise<unknown>;
}

function startCamera(client: Awaited<ReturnType<typeof openClient>>): Camera {
  let camera!: ReadableStreamDefaultController<VideoFrame>;
  const source = new ReadableStream<VideoFrame>({ start: (controller) => void (camera = controller) });
  const items = client.frames(source)[Symbol.asyncIterator]();
  return {
    async show(frame) {
      camera.enqueue(frame);
      await items.next();
    },
    end: () => items.return!(),
  };
}

/** Segments frames, one after another, and measures each part of the way. */
async function measureHandlers({ backend, format, warmUps, rounds }: OpenHandlersOptions): Promise<Parts> {
  const client = await openClient(backend);
  const make = await frameMaker(WIDTH, HEIGHT, format);
  const camera = startCamera(client);
  const parts: Parts = {
    elapsed: [],
    page: [],
    transfer: [],
    preprocess: [],
    inference: [],
    postprocess: [],
    rest: [],
  };
  let timings: Timings = {};
  client.on('response', (response) => (timings = response.timings));
  const sum = (name: string): number => client.metrics.snapshot().histograms[name]?.[0]?.sum ?? 0;
  let [roundTrips, handler] = [0, 0];
  for (let round = -warmUps; round < rounds; round++) {
    const frame = make(round * 1000);
    await pause(PAUSE_MS);
    const started = performance.now();
    await camera.show(frame);
    const elapsed = performance.now() - started;
    const [roundTrip, handled] = [sum('PredictionTime') - roundTrips, sum('HandlerTime') - handler];
    [roundTrips, handler] = [roundTrips + roundTrip, handler + handled];
    if (round < 0) continue;
    const { preprocess = 0, inference = 0, postprocess = 0 } = timings;
    const own = { preprocess, inference, postprocess, elapsed };
    const rest = handled - preprocess - inference - postprocess;
    const all = { ...own, rest, page: elapsed - roundTrip, transfer: roundTrip - handled };
    for (const [name, took] of Object.entries(all)) parts[name as keyof Parts].push(took);
  }
  await client.dispose();
  return parts;
}

/**
 * Segments frames between two marks for the trace, waits for as long as they took between two others, and sends as many
 * frames to a worker that does nothing between two more.
 */
async function markPage(options: OpenHandlersOptions): Promise<void> {
  const client = await openClient(options.backend);
  const camera = startCamera(client);
  const took = await markFrames('frames', options, camera.show);
  await camera.end();
  performance.mark('bench idle start');
  await pause(took);
  performance.mark('bench idle end');
  await client.dispose();
  const bare = new Worker(new URL('./bare.worker.ts', import.meta.url), { type: 'module' });
  await markFrames('bare', options, await openWorker(bare));
}

/** @returns the milliseconds between the marks */
async function markFrames(
  name: string,
  { format, warmUps, rounds }: OpenHandlersOptions,
  send: (frame: VideoFrame) => Promise<unknown>,
): Promise<number> {
  const make = await frameMaker(WIDTH, HEIGHT, format);
  const frames = Array.from({ length: warmUps + rounds }, (_, index) => make(index * 1000));
  for (const frame of frames.splice(0, warmUps)) await send(frame);
  await pause(PAUSE_MS);
  const started = performance.now();
  performance.mark(`bench ${name} start`);
  for (const frame of frames) await send(frame);
  performance.mark(`bench ${name} end`);
  const took = performance.now() - started;
  // What follows is another task: the one of the last answer is measured whole.
  await pause(PAUSE_MS);
  return took;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

const frames = { measureHandlers, markPage, measureThroughput, measureByHand };
export type Frames = typeof frames;

Object.assign(globalThis, { frames });

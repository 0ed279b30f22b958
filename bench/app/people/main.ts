/** The page's side of the section on people. `bench/people.mjs` calls it. */
import { load } from '../../../src/index.ts';
import { frameMaker, HEIGHT, WIDTH } from '../frames/frame.ts';
import type { Task } from './hand-written.ts';

const PAUSE_MS = 20;

export interface PeopleOptions extends Pick<Task, 'archive' | 'detectorSide' | 'side'> {
  readonly photo: string;
  readonly warmUps: number;
  readonly rounds: number;
}

/** Milliseconds by round, of one frame at a time. */
export interface People {
  /** From the call to the answer, with the detector in every tenth frame: on ONNX Runtime, and on TensorFlow.js. */
  readonly onnx: number[];
  readonly tfjs: number[];
  /** The same by hand, with TensorFlow.js. */
  readonly byHand: number[];
  /** From the call to the answer of a frame in which the detector does not run, on ONNX Runtime. */
  readonly tracked: number[];
  /** The runs of the model of landmarks alone, on ONNX Runtime. */
  readonly model: number[];
  /** How many are in the picture. */
  readonly count: number;
}

async function measurePeople({ photo, warmUps, rounds, ...models }: PeopleOptions): Promise<People> {
  const [onnx, ownTfjs] = [await open(models.archive, 'onnx/wasm'), await open(models.archive, 'tfjs/wasm')];
  const make = await cameraOf(photo);
  const found = await onnx.predict(make(0), { transfer: true });
  const regions = found.map(({ box: { xmin, xmax, ymin, ymax } }) => ({
    x: (xmin + xmax) / 2,
    y: (ymin + ymax) / 2,
    size: 1.5 * Math.max(xmax - xmin, ymax - ymin),
  }));
  const task: Task = { ...models, regions };
  const tfjs = await openWorker(new Worker(new URL('./tfjs.worker.ts', import.meta.url), { type: 'module' }), task);
  const model = await openWorker(new Worker(new URL('./onnx.worker.ts', import.meta.url), { type: 'module' }), task);
  const [every, everyTfjs, tracking] = [onnx.openSequence(), ownTfjs.openSequence(), onnx.openSequence()];
  const contenders: Readonly<Record<string, (frame: VideoFrame) => Promise<unknown>>> = {
    onnx: (frame) => every.predict(frame, { transfer: true }),
    tfjs: (frame) => everyTfjs.predict(frame, { transfer: true }),
    byHand: tfjs,
    tracked: (frame) => tracking.predict(frame, { transfer: true, params: { detectEvery: 10_000 } }),
    model,
  };
  const names = Object.keys(contenders);
  const times: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -warmUps; round < rounds; round++)
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + warmUps + turn) % names.length]!;
      const frame = make((round + warmUps) * 33_333);
      await pause();
      const started = performance.now();
      const answer = await contenders[name]!(frame);
      const took = performance.now() - started;
      if (round >= 0) times[name]!.push(name === 'model' ? (answer as number) : took);
    }
  await onnx.dispose();
  await ownTfjs.dispose();
  return { ...(times as unknown as Omit<People, 'count'>), count: regions.length };
}

/** Marks the frames of a camera for Chromium's trace, and as much waiting. */
async function markPeople({ archive, photo, warmUps, rounds }: PeopleOptions): Promise<void> {
  const client = await open(archive, 'onnx/wasm');
  const sequence = client.openSequence();
  const make = await cameraOf(photo);
  const send = async (index: number) => await sequence.predict(make(index * 33_333), { transfer: true });
  for (let index = 0; index < warmUps; index++) await send(index);
  await pause();
  const started = performance.now();
  performance.mark('bench frames start');
  for (let index = warmUps; index < warmUps + rounds; index++) await send(index);
  performance.mark('bench frames end');
  const took = performance.now() - started;
  // What follows is another task: the one of the last answer is measured whole.
  await pause();
  performance.mark('bench idle start');
  await pause(took);
  performance.mark('bench idle end');
  await client.dispose();
}

async function open(archive: string, backend: 'onnx/wasm' | 'tfjs/wasm') {
  const client = await load<'face_landmarker'>(archive, {
    backends: [backend],
    config: { engine: { threads: 1 } },
  });
  if (client.backend?.threads !== 1) throw new Error(`One thread was expected, not ${client.backend?.threads}.`);
  return client;
}

async function cameraOf(photo: string): Promise<(timestamp: number) => VideoFrame> {
  return await frameMaker(WIDTH, HEIGHT, 'I420', await (await fetch(photo)).blob());
}

function pause(ms = PAUSE_MS): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/** Returns a function that sends a frame to a worker, and returns the data of its answer. */
async function openWorker(worker: Worker, task: Task): Promise<(frame: VideoFrame) => Promise<unknown>> {
  const next = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      worker.addEventListener('message', ({ data }) => resolve(data), { once: true });
      worker.addEventListener('error', ({ message }) => reject(new Error(message)), { once: true });
    });
  const ready = next();
  worker.postMessage(task);
  await ready;
  return async (frame) => {
    const answer = next();
    worker.postMessage(frame, [frame]);
    return await answer;
  };
}

const people = { measurePeople, markPeople };
export type PeoplePage = typeof people;

Object.assign(globalThis, { people });

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
  /** From the call to the answer, with the detector in every tenth frame. */
  readonly ours: number[];
  /** The same by hand, with TensorFlow.js. */
  readonly tfjs: number[];
  /** From the call to the answer of a frame in which the detector does not run. */
  readonly tracked: number[];
  /** The runs of the model of landmarks alone. */
  readonly model: number[];
  /** How many are in the picture. */
  readonly count: number;
}

async function measurePeople({ photo, warmUps, rounds, ...models }: PeopleOptions): Promise<People> {
  const client = await load<'face_landmarker'>(models.archive, {
    backends: ['onnx/wasm'],
    config: { engine: { threads: 1 } },
  });
  if (client.backend?.threads !== 1) throw new Error(`One thread was expected, not ${client.backend?.threads}.`);
  const make = await frameMaker(WIDTH, HEIGHT, 'I420', await (await fetch(photo)).blob());
  const found = await client.predict(make(0), { transfer: true });
  const regions = found.map(({ box: { xmin, xmax, ymin, ymax } }) => ({
    x: (xmin + xmax) / 2,
    y: (ymin + ymax) / 2,
    size: 1.5 * Math.max(xmax - xmin, ymax - ymin),
  }));
  const task: Task = { ...models, regions };
  const tfjs = await openWorker(new Worker(new URL('./tfjs.worker.ts', import.meta.url), { type: 'module' }), task);
  const model = await openWorker(new Worker(new URL('./onnx.worker.ts', import.meta.url), { type: 'module' }), task);
  const [every, tracking] = [client.openSequence(), client.openSequence()];
  const contenders: Readonly<Record<string, (frame: VideoFrame) => Promise<unknown>>> = {
    ours: (frame) => every.predict(frame, { transfer: true }),
    tfjs,
    tracked: (frame) => tracking.predict(frame, { transfer: true, params: { detectEvery: 10_000 } }),
    model,
  };
  const names = Object.keys(contenders);
  const times: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -warmUps; round < rounds; round++)
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + warmUps + turn) % names.length]!;
      const frame = make((round + warmUps) * 33_333);
      await new Promise((resolve) => void setTimeout(resolve, PAUSE_MS));
      const started = performance.now();
      const answer = await contenders[name]!(frame);
      const took = performance.now() - started;
      if (round >= 0) times[name]!.push(name === 'model' ? (answer as number) : took);
    }
  await client.dispose();
  return { ...(times as unknown as Omit<People, 'count'>), count: regions.length };
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

const people = { measurePeople };
export type PeoplePage = typeof people;

Object.assign(globalThis, { people });

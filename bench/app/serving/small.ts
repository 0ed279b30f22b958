import { wrap, type Remote } from 'comlink';
import type { BaseHandler } from '../../../src/handlers/base-handler.ts';
import { load, type Client } from '../../../src/index.ts';
import type { Bare } from './bare.worker.ts';

const MODEL = '/models/digits/';
/** `writeServingModels` of `bench/serving.mjs` makes it. */
const LAYERS = '/made/layers/model.onnx';
const SIDE = 28;

export interface SmallOptions {
  /** Requests of each contender, one after another, before the next one's turn; and turns, of which as many before them are not measured. */
  readonly single: number;
  readonly turns: number;
  /** Requests at once, and how often. */
  readonly atOnce: number;
  readonly rounds: number;
  readonly batchSize: number;
}

/** Milliseconds. */
export interface Small {
  /** Of a request that is sent when the last one was answered, the median of each turn: a message alone, ours, and the same by hand. */
  readonly single: Readonly<Record<'floor' | 'bare' | 'ours', readonly number[]>>;
  /** Of the preprocessing of requests with pixels instead of a tensor. */
  readonly preprocess: readonly number[];
  /** Until all requests that are sent at once are answered, by round: by hand, ours, and ours in batches. */
  readonly atOnce: Readonly<Record<'bare' | 'ours' | 'batched', readonly number[]>>;
  /** Of as many rows as are sent at once, in runs with nothing in between, by round. */
  readonly raw: readonly number[];
}

/** Requests that take a model no time: what is around it shows. */
export async function measureSmall({ single, turns, atOnce, rounds, batchSize }: SmallOptions): Promise<Small> {
  const floor = openFloor();
  const bare = await openBare(`${MODEL}digits.onnx`, [1, 1, SIDE, SIDE]);
  const ours = await openOurs(1, atOnce);
  const batched = await openOurs(batchSize, atOnce);
  const pixels = Float32Array.from({ length: SIDE * SIDE }, (_, at) => ((7 * at) % 100) / 50 - 1);
  const dims = [1, SIDE, SIDE];
  const contenders = {
    floor: () => floor(pixels),
    bare: () => bare.classify(pixels),
    ours: () => ours.predict({ data: pixels, dims }),
  };
  const samples: Record<keyof typeof contenders, number[]> = { floor: [], bare: [], ours: [] };
  const names = Object.keys(contenders) as (keyof typeof contenders)[];
  for (let turn = -turns; turn < turns; turn++)
    for (let at = 0; at < names.length; at++) {
      const name = names[(turn + turns + at) % names.length]!;
      const times: number[] = [];
      for (let request = 0; request < single; request++) {
        const started = performance.now();
        await contenders[name]();
        times.push(performance.now() - started);
      }
      if (turn >= 0) samples[name].push(middle(times));
    }

  const preprocess: number[] = [];
  const stop = ours.on('response', ({ timings }) => preprocess.push(timings.preprocess!));
  const gray = Uint8Array.from(pixels, (value) => 127 * (value + 1));
  for (let request = 0; request < single * turns; request++) await ours.predict({ data: gray, dims: [SIDE, SIDE, 1] });
  stop();

  const taken = { bare: [] as number[], ours: [] as number[], batched: [] as number[] };
  const raw: number[] = [];
  const crowds = {
    bare: () => bare.classify(pixels),
    ours: () => ours.predict({ data: pixels, dims }),
    batched: () => batched.predict({ data: pixels, dims }),
  };
  for (let round = -2; round < rounds; round++) {
    for (const [name, send] of Object.entries(crowds)) {
      const started = performance.now();
      await Promise.all(Array.from({ length: atOnce }, () => send()));
      if (round >= 0) taken[name as keyof typeof crowds].push(performance.now() - started);
    }
    const runs = await bare.time(atOnce);
    if (round >= 0) raw.push(runs);
  }
  await Promise.all([ours.dispose(), batched.dispose()]);
  return { single: samples, preprocess: preprocess.slice(preprocess.length / 2), atOnce: taken, raw };
}

/** Milliseconds until all requests that are sent at once are answered, by round. */
export type Layers = Readonly<Record<'bare' | 'batched', readonly number[]>>;

/** Requests at once to a model of many small layers, whose run takes hardly longer for a batch than for a row. */
export async function measureLayers(
  options: Omit<SmallOptions, 'single' | 'turns'> & { readonly width: number },
): Promise<Layers> {
  const { atOnce, rounds, batchSize, width } = options;
  const bare = await openBare(LAYERS, [1, width]);
  const batched = (await load(LAYERS, {
    handler: 'base_handler',
    backends: ['onnx/wasm'],
    config: { engine: { threads: 1 } },
    batchSize,
    jobQueueSize: atOnce,
  })) as unknown as Client<BaseHandler>;
  const data = new Float32Array(width).fill(0.5);
  const crowds = { bare: () => bare.run(data), batched: () => batched.predict({ data, dims: [width] }) };
  const taken = { bare: [] as number[], batched: [] as number[] };
  for (let round = -2; round < rounds; round++)
    for (const [name, send] of Object.entries(crowds)) {
      const started = performance.now();
      await Promise.all(Array.from({ length: atOnce }, () => send()));
      if (round >= 0) taken[name as keyof Layers].push(performance.now() - started);
    }
  await batched.dispose();
  return taken;
}

function middle(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!;
}

function openFloor(): (pixels: Float32Array) => Promise<unknown> {
  const worker = new Worker(new URL('./floor.worker.ts', import.meta.url), { type: 'module' });
  return (pixels) =>
    new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.postMessage(pixels);
    });
}

async function openBare(model: string, dims: readonly number[]): Promise<Remote<Bare>> {
  const bare = wrap<Bare>(new Worker(new URL('./bare.worker.ts', import.meta.url), { type: 'module' }));
  await bare.open(model, dims);
  return bare;
}

function openOurs(batchSize: number, jobQueueSize: number) {
  return load<'image_classifier'>(MODEL, {
    backends: ['onnx/wasm'],
    config: { engine: { threads: 1 } },
    batchSize,
    jobQueueSize,
  });
}

import type { BaseHandler } from '../../../src/worker/handlers/base-handler.ts';
import { load, type Client } from '../../../src/index.ts';
import { ENGINE, makeRows, MLP_URL, WIDTH } from './mlp.ts';
import type { Runs } from './raw.worker.ts';

type MlpClient = Client<BaseHandler>;

/** Batches to fill, for every one that runs. */
const WAITING = 3;

/** Milliseconds of each round. */
export interface Batching {
  /** `runs` raw runs of `batchSize` rows. */
  readonly raw: readonly number[];
  /** As many rows, by as many raw runs of one row. */
  readonly rawSingly: readonly number[];
  /** As many rows, each a request of its own. */
  readonly ours: readonly number[];
}

export interface BatchingOptions {
  readonly batchSize: number;
  /** Batches in a round. */
  readonly runs: number;
  readonly rounds: number;
}

/** Requests that form batches, in turns with raw runs of ready batches in a worker of their own. */
export async function measureBatching({ batchSize, runs, rounds }: BatchingOptions): Promise<Batching> {
  const raw = await openRaw();
  const client = await openClient(batchSize);
  const samples: Record<keyof Batching, number[]> = { raw: [], rawSingly: [], ours: [] };
  for (let round = -1; round < rounds; round++) {
    const taken = {
      raw: await raw({ batchSize, runs }),
      ours: await timeFull(client, batchSize, runs),
      rawSingly: await raw({ batchSize: 1, runs: runs * batchSize }),
    };
    if (round < 0) continue;
    for (const [name, took] of Object.entries(taken)) samples[name as keyof Batching].push(took);
  }
  await client.dispose();
  return samples;
}

async function openRaw(): Promise<(runs: Runs) => Promise<number>> {
  const worker = new Worker(new URL('./raw.worker.ts', import.meta.url), { type: 'module' });
  const next = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<T>) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    });
  await next<'ready'>();
  return (runs) => {
    worker.postMessage(runs);
    return next<number>();
  };
}

function openClient(batchSize: number): Promise<MlpClient> {
  return load(MLP_URL, {
    handler: 'base_handler',
    backends: ['onnx/wasm'],
    batchSize,
    config: { engine: ENGINE },
  }) as Promise<MlpClient>;
}

function makeInputs(count: number): readonly { readonly data: Float32Array; readonly dims: readonly number[] }[] {
  const rows = makeRows(count);
  return Array.from({ length: count }, (_, index) => ({
    data: rows.slice(index * WIDTH, (index + 1) * WIDTH),
    dims: [WIDTH],
  }));
}

/**
 * Milliseconds of `runs` batches while more requests wait: once the first ones, which found no other to join, are
 * answered, every batch is full.
 */
async function timeFull(client: MlpClient, batchSize: number, runs: number): Promise<number> {
  const inputs = makeInputs(batchSize);
  const first = 2 * WAITING * batchSize;
  const last = first + runs * batchSize;
  let [started, ended, answered] = [0, 0, 0];
  const caller = async (input: (typeof inputs)[number]): Promise<void> => {
    while (answered < last) {
      await client.predict(input);
      answered += 1;
      if (answered === first) started = performance.now();
      if (answered === last) ended = performance.now();
    }
  };
  await Promise.all(Array.from({ length: WAITING * batchSize }, (_, index) => caller(inputs[index % batchSize]!)));
  return ended - started;
}

/**
 * Milliseconds of each request of one who sends the next when the last was answered: with batches allowed, and without.
 */
export interface Interactive {
  readonly batched: readonly number[];
  readonly single: readonly number[];
}

export interface InteractiveOptions {
  readonly batchSize: number;
  readonly rounds: number;
  /** How often both clients are opened anew: where a worker's memory lies makes a difference of its own. */
  readonly openings: number;
}

export async function measureInteractive({ batchSize, rounds, openings }: InteractiveOptions): Promise<Interactive> {
  const samples: Record<keyof Interactive, number[]> = { batched: [], single: [] };
  const [input] = makeInputs(1);
  for (let opening = 0; opening < openings; opening++) {
    const clients = { batched: await openClient(batchSize), single: await openClient(1) };
    for (let round = -20; round < rounds; round++) {
      const turns = ['batched', 'single'] as const;
      for (const name of round % 2 ? turns : turns.toReversed()) {
        const started = performance.now();
        await clients[name].predict(input!);
        if (round >= 0) samples[name].push(performance.now() - started);
      }
    }
    await Promise.all(Object.values(clients).map((client) => client.dispose()));
  }
  return samples;
}

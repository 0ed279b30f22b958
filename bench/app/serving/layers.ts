import { wrap } from 'comlink';
import type { BaseHandler } from '../../../src/worker/handlers/base-handler.ts';
import { load, type Client } from '../../../src/index.ts';
import type { Bare } from './bare.worker.ts';

/** `writeServingModels` of `bench/serving.mjs` makes it. */
const MODEL = '/made/layers/model.onnx';

export interface LayersOptions {
  /** Requests at once, and how often. */
  readonly atOnce: number;
  readonly rounds: number;
  readonly batchSize: number;
  readonly width: number;
}

/** Milliseconds until all requests that are sent at once are answered, by round: by hand, and ours in batches. */
export type Layers = Readonly<Record<'bare' | 'batched', readonly number[]>>;

/** Requests at once to a model of many small layers, whose run takes hardly longer for a batch than for a row. */
export async function measureLayers({ atOnce, rounds, batchSize, width }: LayersOptions): Promise<Layers> {
  const bare = wrap<Bare>(new Worker(new URL('./bare.worker.ts', import.meta.url), { type: 'module' }));
  await bare.open(MODEL, [1, width]);
  const batched = (await load(MODEL, {
    handler: 'base_handler',
    backends: ['onnx/wasm'],
    config: { engine: { threads: 1 } },
    batchSize,
    jobQueueSize: atOnce,
  })) as unknown as Client<BaseHandler>;
  const data = new Float32Array(width).fill(0.5);
  const contenders = { bare: () => bare.run(data), batched: () => batched.predict({ data, dims: [width] }) };
  const taken = { bare: [] as number[], batched: [] as number[] };
  for (let round = -2; round < rounds; round++)
    for (const [name, send] of Object.entries(contenders)) {
      const started = performance.now();
      await Promise.all(Array.from({ length: atOnce }, () => send()));
      if (round >= 0) taken[name as keyof Layers].push(performance.now() - started);
    }
  await batched.dispose();
  return taken;
}

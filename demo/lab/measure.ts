import {
  connect,
  type CandidateName,
  type Client,
  type EngineName,
  type Probe,
  type TensorInfo,
  type Tensors,
} from '../../src/index.js';
import type { BaseHandler } from '../../src/worker.js';
import { described } from '../page/errors.js';
import { freeDimensions, noise, type Sizes } from './noise.js';

/** Every engine on every backend; the reference that the others are compared with comes first. */
export const CANDIDATES: Readonly<Record<EngineName, readonly [CandidateName, ...CandidateName[]]>> = {
  onnx: ['onnx/wasm', 'onnx/webgpu', 'onnx/webgl'],
  tfjs: ['tfjs/wasm', 'tfjs/webgpu', 'tfjs/webgl', 'tfjs/cpu'],
};

/** A candidate runs so many times, or for so long. */
export const RUNS = 20;
const MILLISECONDS = 3000;

export interface Inspected {
  readonly inputs: readonly TensorInfo[];
  readonly probe: Probe | undefined;
}

/** Returns the inputs of a model, and what the browser offers. @throws what `initialize` throws */
export async function inspect(weights: string | File, engine: EngineName, signal: AbortSignal): Promise<Inspected> {
  const client = opener(
    weights,
    CANDIDATES[engine].filter((name) => !name.includes('/webg')),
  );
  try {
    await client.initialize({ signal });
    const { inputs } = (await client.describe()) as Pick<Inspected, 'inputs'>;
    return { inputs, probe: client.probe };
  } finally {
    await client.dispose();
  }
}

/** The result of a candidate; `diagnosis` is the client's log. */
export type Outcome = { readonly diagnosis: string } & (
  | {
      readonly ok: true;
      readonly outputs: Tensors;
      /** Milliseconds of each run, the first left out. */ readonly times: readonly number[];
    }
  | { readonly ok: false; readonly reason: string }
);

/** Opens one candidate, and runs it many times on the same random input. @throws when aborted */
export async function measure(
  candidate: CandidateName,
  weights: string | File,
  inputs: readonly TensorInfo[],
  sizes: Sizes,
  { signal, ran }: { readonly signal: AbortSignal; ran(runs: number): void },
): Promise<Outcome> {
  const client = opener(weights, [candidate], freeDimensions(inputs, sizes));
  try {
    await client.initialize({ signal });
    const feeds = noise(inputs, sizes);
    const outputs = (await client.predict(feeds, { signal })) as Tensors;
    const times: number[] = [];
    client.on('response', ({ timings }) => times.push(timings.inference ?? 0));
    const until = performance.now() + MILLISECONDS;
    do {
      await client.predict(feeds, { signal });
      ran(times.length);
    } while (times.length < RUNS && performance.now() < until);
    return { ok: true, outputs, times, diagnosis: client.diagnose() };
  } catch (error) {
    signal.throwIfAborted();
    // The row names the candidate already: keep only its reason.
    const reason = described(error).message.split(`${candidate}: `).at(-1)!;
    return { ok: false, reason, diagnosis: client.diagnose() };
  } finally {
    await client.dispose();
  }
}

function opener(
  weights: string | File,
  backends: readonly CandidateName[],
  freeDimensions: Record<string, number> = {},
): Client<BaseHandler> {
  return connect<BaseHandler>(() => new Worker(new URL('./base.worker.ts', import.meta.url), { type: 'module' }), {
    model: weights,
    backends,
    responseTimeout: 30,
    maxRetryTimeoutInSec: 5,
    ...(Object.keys(freeDimensions).length > 0 && { config: { engine: { freeDimensions } } }),
  });
}

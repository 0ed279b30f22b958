import {
  connect,
  type CandidateName,
  type ModelFormat,
  type Probe,
  type TensorInfo,
  type Tensors,
} from '../../src/index.js';
import type { BaseHandler } from '../../src/worker.js';
import { described } from '../page/errors.js';
import { freeDimensions, noise, type Sizes } from './noise.js';

/** Every engine on every backend; the reference that the others are compared with comes first. */
export const CANDIDATES: Readonly<Record<ModelFormat, readonly [CandidateName, ...CandidateName[]]>> = {
  onnx: ['onnx/wasm', 'onnx/webgpu', 'onnx/webgl', 'onnx/webnn'],
  tfjs: ['tfjs/wasm', 'tfjs/webgpu', 'tfjs/webgl', 'tfjs/cpu'],
};

/** A candidate runs this many times, or for so long. */
export const RUNS = 20;
const MILLISECONDS = 3000;

/** The result of a candidate; `diagnosis` is the client's log. */
export type Outcome = { readonly diagnosis: string; readonly probe: Probe | undefined } & (
  | {
      readonly ok: true;
      readonly outputs: Tensors;
      /** Milliseconds of each run, the first left out. */ readonly times: readonly number[];
    }
  | { readonly ok: false; readonly reason: string }
);

export interface Subject {
  readonly weights: string | File;
  /** The inputs, where they are known before the model is opened. */
  readonly inputs: readonly TensorInfo[];
  readonly sizes: Sizes;
}

/** Opens one candidate, and runs it many times on the same random input. @throws when aborted */
export async function measure(
  candidate: CandidateName,
  { weights, inputs, sizes }: Subject,
  { signal, ran }: { readonly signal: AbortSignal; ran(runs: number): void },
): Promise<Outcome> {
  const free = freeDimensions(inputs, sizes);
  const worker = (): Worker => new Worker(new URL('./base.worker.ts', import.meta.url), { type: 'module' });
  const client = connect<BaseHandler>(worker, {
    model: weights,
    backends: [candidate],
    responseTimeout: 30,
    maxRetryTimeoutInSec: 5,
    ...(Object.keys(free).length > 0 && { config: { engine: { freeDimensions: free } } }),
  });
  const facts = (): Pick<Outcome, 'diagnosis' | 'probe'> => ({ diagnosis: client.diagnose(), probe: client.probe });
  try {
    await client.initialize({ signal });
    const opened = (await client.describe()) as { readonly inputs: readonly TensorInfo[] };
    const feeds = noise(opened.inputs, sizes);
    const outputs = (await client.predict(feeds, { signal })) as Tensors;
    const times: number[] = [];
    client.on('response', ({ timings }) => times.push(timings.inference ?? 0));
    const until = performance.now() + MILLISECONDS;
    do {
      await client.predict(feeds, { signal });
      ran(times.length);
    } while (times.length < RUNS && performance.now() < until);
    return { ok: true, outputs, times, ...facts() };
  } catch (error) {
    signal.throwIfAborted();
    // The row names the candidate already: keep only its reason.
    const reason = described(error).message.split(`${candidate}: `).at(-1)!;
    return { ok: false, reason, ...facts() };
  } finally {
    await client.dispose();
  }
}

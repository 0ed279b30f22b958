/** What is written by hand: onnxruntime-web behind comlink, with nothing between them. It answers as `image_classifier` does. */
import { expose } from 'comlink';
import * as ort from 'onnxruntime-web/wasm';

ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = { wasm: new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url) };

const TOP = 5;
let session: ort.InferenceSession;
let rowDims: readonly number[];

const bare = {
  /** Opens a model of one input. @param dims of the input for one row */
  async open(url: string, dims: readonly number[]): Promise<void> {
    rowDims = dims;
    const model = new Uint8Array(await (await fetch(url)).arrayBuffer());
    const options = { executionProviders: ['wasm'], graphOptimizationLevel: 'all', logSeverityLevel: 3 } as const;
    session = await ort.InferenceSession.create(model, options);
  },

  /** Classifies one row: a normalized picture of 28 × 28. */
  async classify(pixels: Float32Array): Promise<{ label: string; score: number }[]> {
    const logits = await run(pixels);
    const highest = Math.max(...logits);
    const powers = Array.from(logits, (logit) => Math.exp(logit - highest));
    const sum = powers.reduce((total, power) => total + power, 0);
    return powers
      .map((power, index) => ({ label: String(index), score: power / sum }))
      .sort((a, b) => b.score - a.score)
      .slice(0, TOP);
  },

  /** Runs the model on one row, and answers its output. */
  run,

  /** Returns the milliseconds of so many runs with nothing in between. */
  async time(runs: number): Promise<number> {
    const pixels = new Float32Array(rowDims.reduce((product, size) => product * size, 1));
    const started = performance.now();
    for (let index = 0; index < runs; index++) await run(pixels);
    return performance.now() - started;
  },
};

async function run(pixels: Float32Array): Promise<Float32Array> {
  const feeds = { [session.inputNames[0]!]: new ort.Tensor('float32', pixels, rowDims) };
  return (await session.run(feeds))[session.outputNames[0]!]!.data as Float32Array;
}

export type Bare = typeof bare;
expose(bare);

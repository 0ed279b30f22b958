/** What is written by hand: onnxruntime-web behind comlink, with nothing between them. */
import { expose } from 'comlink';
import * as ort from 'onnxruntime-web/wasm';

ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = { wasm: new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url) };

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

  /** Runs the model on one row, and answers its output. */
  async run(row: Float32Array): Promise<Float32Array> {
    const feeds = { [session.inputNames[0]!]: new ort.Tensor('float32', row, rowDims) };
    return (await session.run(feeds))[session.outputNames[0]!]!.data as Float32Array;
  },
};

export type Bare = typeof bare;
expose(bare);

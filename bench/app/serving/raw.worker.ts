/** onnxruntime-web alone in a worker, with nothing to wait for: runs one ready batch over and over. */
import * as ort from 'onnxruntime-web/wasm';
import { ENGINE, makeRows, MLP_URL, WIDTH } from './mlp.ts';

export interface Runs {
  readonly batchSize: number;
  readonly runs: number;
}

const scope = globalThis as unknown as Worker;
ort.env.wasm.numThreads = ENGINE.threads;
ort.env.wasm.wasmPaths = { wasm: new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url) };
const { threads: _, ...options } = ENGINE;
const model = new Uint8Array(await (await fetch(MLP_URL)).arrayBuffer());
const session = await ort.InferenceSession.create(model, {
  executionProviders: ['wasm'],
  logSeverityLevel: 3,
  ...options,
});

scope.onmessage = async ({ data: { batchSize, runs } }: MessageEvent<Runs>) => {
  const x = new ort.Tensor('float32', makeRows(batchSize), [batchSize, WIDTH]);
  const started = performance.now();
  for (let run = 0; run < runs; run++) await session.run({ x });
  scope.postMessage(performance.now() - started);
};
scope.postMessage('ready');

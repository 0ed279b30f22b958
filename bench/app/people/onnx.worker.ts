/** The model of landmarks alone, by ONNX Runtime: one run of a ready tensor for each region. */
import * as ort from 'onnxruntime-web/wasm';
import type { Task } from './hand-written.ts';

ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = { wasm: new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url) };

const scope = globalThis as unknown as Worker;

scope.addEventListener('message', ({ data: task }: MessageEvent<Task>) => void start(task), { once: true });

async function start({ archive, side, regions }: Task): Promise<void> {
  const model = new Uint8Array(await (await fetch(`${archive}landmarks/model.onnx`)).arrayBuffer());
  const options = { executionProviders: ['wasm'], graphOptimizationLevel: 'all', logSeverityLevel: 3 } as const;
  const session = await ort.InferenceSession.create(model, options);
  const input = new ort.Tensor('float32', new Float32Array(side * side * 3).fill(0.5), [1, side, side, 3]);
  scope.addEventListener('message', async ({ data: frame }: MessageEvent<VideoFrame>) => {
    frame.close();
    const started = performance.now();
    for (const _ of regions) await session.run({ [session.inputNames[0]!]: input });
    scope.postMessage(performance.now() - started);
  });
  scope.postMessage('ready');
}

import * as ort from 'onnxruntime-web/wasm';
import { serveMasks, SIDE } from './by-hand.ts';

ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = { wasm: new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url) };
const model = new Uint8Array(await (await fetch('/models/selfie/model.onnx')).arrayBuffer());
const options = { executionProviders: ['wasm'], graphOptimizationLevel: 'all', logSeverityLevel: 3 } as const;
const session = await ort.InferenceSession.create(model, options);
const [input, output] = [session.inputNames[0]!, session.outputNames[0]!];

serveMasks(async ({ data }) => {
  const pixels = new Float32Array(SIDE * SIDE * 3);
  for (let at = 0, to = 0; to < pixels.length; at++) if (at % 4 < 3) pixels[to++] = data[at]! / 255;
  const outputs = await session.run({ [input]: new ort.Tensor('float32', pixels, [1, SIDE, SIDE, 3]) });
  return outputs[output]!.data as Float32Array;
});

/** onnxruntime-web alone, on the page: what nobody can be faster than. */
import * as ort from 'onnxruntime-web/wasm';
import { CHANNELS, HEIGHT, MODEL_URL, SESSION_OPTIONS, THREADS, WIDTH } from '../model.ts';

export interface Raw {
  readonly version: string;
  /** Runs a ready tensor, and answers with the logits. */
  run(pixels: Float32Array): Promise<Float32Array>;
}

export async function openRaw(): Promise<Raw> {
  ort.env.wasm.numThreads = THREADS;
  ort.env.wasm.wasmPaths = { wasm: new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url) };
  const model = new Uint8Array(await (await fetch(MODEL_URL)).arrayBuffer());
  const session = await ort.InferenceSession.create(model, SESSION_OPTIONS);
  return {
    version: ort.env.versions.web ?? 'unknown',
    async run(pixels) {
      const { logits } = await session.run({
        pixel_values: new ort.Tensor('float32', pixels, [1, CHANNELS, HEIGHT, WIDTH]),
      });
      return logits!.data as Float32Array;
    },
  };
}

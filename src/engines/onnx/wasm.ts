import { load } from '../../libraries/onnx-wasm.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { createEngine } from './engine.js';
import { provideFiles } from './files.js';

/** Starts ONNX Runtime on WASM with SIMD: correct on every model tried, and available in every browser. */
export async function start(environment: EngineEnvironment): Promise<Engine> {
  const ort = await load(environment.assets);
  const threads = await provideFiles(ort.env, environment, {
    wasm: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url),
    mjs: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.mjs', import.meta.url),
    name: 'ort-wasm-simd-threaded',
    bytes: 14_239_897,
  });
  return createEngine({ ort, provider: 'wasm', threads });
}

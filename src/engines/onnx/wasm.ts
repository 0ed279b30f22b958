import * as ort from 'onnxruntime-web/wasm';
import type { Engine, EngineEnvironment } from '../engine.js';
import { createEngine } from './engine.js';
import { provideFiles } from './files.js';

/** ONNX Runtime on WASM with SIMD: right on everything tried, and everywhere. */
export async function start(environment: EngineEnvironment): Promise<Engine> {
  const threads = await provideFiles(ort.env, environment, {
    wasm: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url),
    mjs: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.mjs', import.meta.url),
    name: 'ort-wasm-simd-threaded',
    bytes: 14_239_897,
  });
  return createEngine({ ort, provider: 'wasm', threads });
}

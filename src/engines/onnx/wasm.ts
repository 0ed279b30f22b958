import * as ort from 'onnxruntime-web/wasm';
import type { Engine, EngineEnvironment } from '../engine.js';
import { createEngine } from './engine.js';
import { place } from './files.js';

/** ONNX Runtime on WASM with SIMD: right on everything tried, and everywhere. */
export function start({ assets, threads }: EngineEnvironment): Engine {
  const placed = place(ort.env, assets, threads, {
    wasm: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url),
    mjs: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.mjs', import.meta.url),
    name: 'ort-wasm-simd-threaded',
  });
  return createEngine({ ort, provider: 'wasm', threads: placed });
}

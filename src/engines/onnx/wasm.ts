import { load } from '../../libraries/onnx-wasm.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { createEngine } from './engine.js';
import { loadBuild } from './files.js';

/** Starts ONNX Runtime on WASM with SIMD: correct on every model tried, and available in every browser. */
export async function start(environment: EngineEnvironment): Promise<Engine> {
  const build = await loadBuild(load, environment, {
    wasm: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url),
    mjs: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.mjs', import.meta.url),
    name: 'ort-wasm-simd-threaded',
    bytes: 14_239_897,
  });
  return createEngine({ ...build, provider: 'wasm' });
}

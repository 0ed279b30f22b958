import { load } from '../../libraries/onnx-wasm.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { loadBuild } from './files.js';

/**
 * Starts ONNX Runtime on WASM with SIMD: correct on every model tried, and available in every browser. Its `.wasm`, which takes longest, is waited for by no script: this
 * file and what it imports are part of the worker's first script.
 */
export async function start(environment: EngineEnvironment): Promise<Engine> {
  const [build, { createEngine }] = await Promise.all([
    loadBuild(load, environment, {
      wasm: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url),
      mjs: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.mjs', import.meta.url),
      name: 'ort-wasm-simd-threaded',
      bytes: 14_239_897,
    }),
    import('./engine.js'),
  ]);
  return createEngine({ ...build, provider: 'wasm' });
}

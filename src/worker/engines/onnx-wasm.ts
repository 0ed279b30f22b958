import { loadScript } from '../../shared/load-script.js';
import { load } from '../libraries/onnx-wasm.js';
import type { EngineLoader } from './engine.js';
import { loadBuild } from './onnx/files.js';

/**
 * Loads ONNX Runtime on WASM with SIMD: correct on every model tried, and available in every browser. Its `.wasm`,
 * which takes longest, does not wait for a script, because this file and its imports are part of the worker's first
 * script.
 */
export const onnxWasm: EngineLoader = async (environment) => {
  const [build, { createEngine }] = await Promise.all([
    loadBuild(load, environment, {
      wasm: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url),
      mjs: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.mjs', import.meta.url),
      name: 'ort-wasm-simd-threaded',
      bytes: 14_239_897,
    }),
    loadScript(() => import('./onnx/engine.js')),
  ]);
  return createEngine({ ...build, provider: 'wasm' });
};

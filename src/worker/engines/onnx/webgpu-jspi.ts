import { load } from '../../libraries/onnx-webgpu-jspi.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { createEngine, type Provide } from './engine.js';
import { loadBuild } from './files.js';
import { onWebgpu } from './device.js';

/**
 * Starts the build with ONNX Runtime's native WebGPU provider and its WebNN provider, for browsers with JSPI: a third
 * smaller, and it survives a run on a lost device.
 */
export async function start(environment: EngineEnvironment, provide: Provide = onWebgpu): Promise<Engine> {
  const { ort } = await loadBuild(
    load,
    { ...environment, threads: 1 },
    {
      wasm: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.jspi.wasm', import.meta.url),
      mjs: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.jspi.mjs', import.meta.url),
      name: 'ort-wasm-simd-threaded.jspi',
      bytes: 16_758_545,
    },
  );
  return createEngine({ ort, threads: 1, ...(await provide(ort.env, environment)) });
}

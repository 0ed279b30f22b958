import { load } from '../../libraries/onnx-webgpu.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { createEngine, type Provide } from './engine.js';
import { loadBuild } from './files.js';
import { onWebgpu } from './device.js';

/** Starts the build with ONNX Runtime's native WebGPU provider and its WebNN provider, for browsers without JSPI. */
export async function start(environment: EngineEnvironment, provide: Provide = onWebgpu): Promise<Engine> {
  const { ort } = await loadBuild(
    load,
    { ...environment, threads: 1 },
    {
      wasm: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm', import.meta.url),
      mjs: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.asyncify.mjs', import.meta.url),
      name: 'ort-wasm-simd-threaded.asyncify',
      bytes: 26_781_914,
    },
  );
  return createEngine({ ort, threads: 1, ...(await provide(ort.env, environment)) });
}

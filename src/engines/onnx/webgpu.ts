import { load } from '../../libraries/onnx-webgpu.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { createEngine } from './engine.js';
import { provideFiles } from './files.js';
import { watchDevice } from './device.js';

/** Starts ONNX Runtime's native WebGPU provider, for browsers without JSPI. */
export async function start(environment: EngineEnvironment): Promise<Engine> {
  const ort = await load(environment.assets);
  await provideFiles(
    ort.env,
    { ...environment, threads: 1 },
    {
      wasm: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm', import.meta.url),
      mjs: () => new URL('onnxruntime-web/ort-wasm-simd-threaded.asyncify.mjs', import.meta.url),
      name: 'ort-wasm-simd-threaded.asyncify',
      bytes: 26_781_914,
    },
  );
  return createEngine({ ort, provider: 'webgpu', threads: 1, gpu: watchDevice(ort.env, environment.onLost) });
}

import type { EngineLoader } from './engine.js';

/** Loads ONNX Runtime on WebGPU: the JSPI build if the browser has JSPI. */
export const onnxWebgpu: EngineLoader = async (environment) => {
  const { start } =
    'Suspending' in WebAssembly ? await import('./onnx/webgpu-jspi.js') : await import('./onnx/webgpu.js');
  return start(environment);
};

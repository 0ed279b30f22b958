import { loadScript } from '../../shared/load-script.js';
import type { EngineLoader } from './engine.js';

/** Loads ONNX Runtime on WebGPU: the JSPI build if the browser has JSPI. */
export const onnxWebgpu: EngineLoader = async (environment) => {
  const start = await loadScript(async () => {
    const build = 'Suspending' in WebAssembly ? import('./onnx/webgpu-jspi.js') : import('./onnx/webgpu.js');
    return (await build).start;
  });
  return start(environment);
};

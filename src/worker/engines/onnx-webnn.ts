import { loadScript } from '../../shared/load-script.js';
import type { EngineLoader } from './engine.js';

/** Loads ONNX Runtime on WebNN, from the build for WebGPU: the JSPI build if the browser has JSPI. */
export const onnxWebnn: EngineLoader = async (environment) => {
  const [{ start }, { onWebnn }] = await loadScript(() =>
    Promise.all([
      'Suspending' in WebAssembly ? import('./onnx/webgpu-jspi.js') : import('./onnx/webgpu.js'),
      import('./onnx/webnn.js'),
    ]),
  );
  return start(environment, onWebnn);
};

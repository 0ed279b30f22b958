import { loadScript } from '../../shared/load-script.js';
import type { EngineLoader } from './engine.js';

/** Loads ONNX Runtime on WebGL. */
export const onnxWebgl: EngineLoader = async (environment) => {
  const start = await loadScript(async () => (await import('./onnx/webgl.js')).start);
  return await start(environment);
};

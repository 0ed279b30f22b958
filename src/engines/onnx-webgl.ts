import type { EngineLoader } from './engine.js';

/** Loads ONNX Runtime on WebGL. */
export const onnxWebgl: EngineLoader = async (environment) => (await import('./onnx/webgl.js')).start(environment);

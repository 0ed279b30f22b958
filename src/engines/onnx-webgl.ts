import type { EngineLoader } from './engine.js';

/** ONNX Runtime on WebGL. */
export const onnxWebgl: EngineLoader = async (environment) => (await import('./onnx/webgl.js')).start(environment);

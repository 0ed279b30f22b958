import type { EngineLoader } from './engine.js';

/** ONNX Runtime on WebGL. */
export const onnxWebgl: EngineLoader = async () => (await import('./onnx/webgl.js')).start();

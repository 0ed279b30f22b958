import type { EngineLoader } from './engine.js';

/** Loads ONNX Runtime on WASM. */
export const onnxWasm: EngineLoader = async (environment) => (await import('./onnx/wasm.js')).start(environment);

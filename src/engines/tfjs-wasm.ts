import type { EngineLoader } from './engine.js';

/** Loads TensorFlow.js on WASM. */
export const tfjsWasm: EngineLoader = async (environment) => (await import('./tfjs/wasm.js')).start(environment);

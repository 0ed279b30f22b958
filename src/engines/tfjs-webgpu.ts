import type { EngineLoader } from './engine.js';

/** Loads TensorFlow.js on WebGPU. */
export const tfjsWebgpu: EngineLoader = async (environment) => (await import('./tfjs/webgpu.js')).start(environment);

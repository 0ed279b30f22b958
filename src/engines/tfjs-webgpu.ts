import type { EngineLoader } from './engine.js';

/** TensorFlow.js on WebGPU. */
export const tfjsWebgpu: EngineLoader = async () => (await import('./tfjs/webgpu.js')).start();

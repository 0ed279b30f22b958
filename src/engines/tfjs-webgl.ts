import type { EngineLoader } from './engine.js';

/** Loads TensorFlow.js on WebGL. */
export const tfjsWebgl: EngineLoader = async (environment) => (await import('./tfjs/webgl.js')).start(environment);

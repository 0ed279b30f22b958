import type { EngineLoader } from './engine.js';

/** TensorFlow.js on WebGL. */
export const tfjsWebgl: EngineLoader = async (environment) => (await import('./tfjs/webgl.js')).start(environment);

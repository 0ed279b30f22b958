import type { EngineLoader } from './engine.js';

/** Loads TensorFlow.js in plain JavaScript. */
export const tfjsCpu: EngineLoader = async (environment) => (await import('./tfjs/cpu.js')).start(environment);

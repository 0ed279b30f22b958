import type { EngineLoader } from './engine.js';

/** Loads TensorFlow.js in plain JavaScript. */
export const tfjsCpu: EngineLoader = async () => (await import('./tfjs/cpu.js')).start();

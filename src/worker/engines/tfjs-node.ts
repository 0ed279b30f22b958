import type { EngineLoader } from './engine.js';

/** Loads TensorFlow.js in plain JavaScript, under Node. */
export const tfjsNode: EngineLoader = async () => (await import('./tfjs/node.js')).start();

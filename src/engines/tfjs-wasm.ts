import { load } from '../libraries/tfjs-wasm.js';
import type { EngineLoader } from './engine.js';
import { loadTensorFlow } from './tfjs/libraries.js';
import { compileTensorFlow } from './tfjs/wasm-file.js';

/** Loads TensorFlow.js on WASM. */
export const tfjsWasm: EngineLoader = async (environment) => {
  const libraries = loadTensorFlow(environment.assets, load);
  const compiled = compileTensorFlow(environment);
  // The first imports the second: together they are there sooner.
  const [{ start }] = await Promise.all([import('./tfjs/wasm.js'), import('./tfjs/engine.js')]);
  return await start(libraries, compiled);
};

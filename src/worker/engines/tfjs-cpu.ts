import { loadScript } from '../../shared/load-script.js';
import { load } from '../libraries/tfjs-cpu.js';
import type { EngineLoader } from './engine.js';
import { loadTensorFlow } from './tfjs/libraries.js';

/** Loads TensorFlow.js in plain JavaScript. */
export const tfjsCpu: EngineLoader = async (environment) => {
  const libraries = loadTensorFlow(environment.assets, load);
  // The first imports the second, so loading both at once is faster.
  const start = await loadScript(async () => {
    const [backend] = await Promise.all([import('./tfjs/cpu.js'), import('./tfjs/engine.js')]);
    return backend.start;
  });
  return await start(libraries);
};

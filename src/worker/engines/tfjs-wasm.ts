import { loadScript } from '../../shared/load-script.js';
import { load } from '../libraries/tfjs-wasm.js';
import type { EngineEnvironment, EngineLoader } from './engine.js';
import { loadTensorFlow } from './tfjs/libraries.js';
import type { CompiledFile } from '../../contract/wire.js';
import { npmFile } from './npm-file.js';
import { compileWasm } from './wasm-module.js';

/** Loads TensorFlow.js on WASM. */
export const tfjsWasm: EngineLoader = async (environment) => {
  const libraries = loadTensorFlow(environment.assets, load);
  const compiled = compileTensorFlow(environment);
  // The first imports the second, so loading both at once is faster.
  const start = await loadScript(async () => {
    const [backend] = await Promise.all([import('./tfjs/wasm.js'), import('./tfjs/engine.js')]);
    return backend.start;
  });
  return await start(libraries, compiled);
};

const NAME = 'tfjs-backend-wasm-simd.wasm';

/** TensorFlow.js's version, by which its `.wasm` is cached: it must be known before TensorFlow.js is loaded. */
const VERSION = '4.22.0';

/**
 * Returns the `.wasm` of TensorFlow.js, compiled: by an earlier worker of the page, or now. The worker's first script
 * has this code, so that compiling begins at once.
 * @returns a promise whose rejection, `backend-failed`, may stay unhandled: the engine's scripts, which await it, may
 *   fail first
 */
function compileTensorFlow(environment: EngineEnvironment): Promise<CompiledFile> {
  const { assets } = environment;
  const bundled = new URL('@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm', import.meta.url);
  const url = assets === undefined ? npmFile(bundled) : new URL(NAME, assets);
  const compiling = compileWasm(url, { name: NAME, bytes: 424_594, version: VERSION }, environment);
  const compiled = compiling.then((module) => ({ url: url.href, version: VERSION, module }));
  compiled.catch(() => {});
  return compiled;
}

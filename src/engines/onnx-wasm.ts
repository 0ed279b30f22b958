import { load } from '../libraries/onnx-wasm.js';
import type { EngineLoader } from './engine.js';

/** Loads ONNX Runtime on WASM: its scripts side by side, because a browser finds what a script imports only once it has that script. */
export const onnxWasm: EngineLoader = async (environment) => {
  const [{ start }] = await Promise.all([
    import('./onnx/wasm.js'),
    import('./onnx/engine.js'),
    import('./wasm-module.js'),
    load(environment.assets),
  ]);
  return start(environment);
};

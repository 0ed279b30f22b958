import type { EngineLoader } from './engine.js';
import type { Around } from './onnx/node.js';

/**
 * Loads ONNX Runtime for Node, whose package `onnxruntime-node` the app installs.
 * @param around makes its calls of native code
 */
export const onnxNode =
  (around?: Around): EngineLoader =>
  async (environment) =>
    (await import('./onnx/node.js')).start(environment, around);

/** Loads ONNX Runtime's WASM under Node: the build that browsers run. It needs no package of its own. */
export const onnxNodeWasm: EngineLoader = async () => (await import('./onnx/node.js')).startWasm();

import type { EngineLoader } from './engine.js';

/** Loads ONNX Runtime for Node, whose package `onnxruntime-node` the app installs. */
export const onnxNode: EngineLoader = async (environment) => (await import('./onnx/node.js')).start(environment);

/** Loads ONNX Runtime's WASM under Node: the build that browsers run. It needs no package of its own. */
export const onnxNodeWasm: EngineLoader = async () => (await import('./onnx/node.js')).startWasm();

import type { EngineLoader } from './engine.js';
import { start } from './onnx/wasm.js';

/** Loads ONNX Runtime on WASM. */
export const onnxWasm: EngineLoader = start;

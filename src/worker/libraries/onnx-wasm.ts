import type { Load } from './load.js';

/** Loads ONNX Runtime's build for WASM. */
export const load: Load<typeof import('onnxruntime-web/wasm')> = () => import('onnxruntime-web/wasm');

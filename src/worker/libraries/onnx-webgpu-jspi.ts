import type { Load } from './load.js';

/** Loads ONNX Runtime's build for WebGPU, for browsers with JSPI. */
export const load: Load<typeof import('onnxruntime-web/jspi')> = () => import('onnxruntime-web/jspi');

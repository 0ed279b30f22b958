import type { Load } from './load.js';

/** Loads ONNX Runtime's build for WebGPU, for browsers without JSPI. */
export const load: Load<typeof import('onnxruntime-web/webgpu')> = () => import('onnxruntime-web/webgpu');

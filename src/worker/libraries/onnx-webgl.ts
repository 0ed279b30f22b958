import type { Load } from './load.js';

/** Loads ONNX Runtime's build for WebGL. */
export const load: Load<typeof import('onnxruntime-web/webgl')> = () => import('onnxruntime-web/webgl');

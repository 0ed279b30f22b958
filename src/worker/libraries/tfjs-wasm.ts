import type { LoadWith } from './load.js';

/** Registers TensorFlow.js's backend on WASM. */
export const load: LoadWith<
  typeof import('@tensorflow/tfjs-core'),
  Pick<typeof import('@tensorflow/tfjs-backend-wasm'), 'setWasmPaths'>
> = () => import('@tensorflow/tfjs-backend-wasm');

import type { LoadWith } from './load.js';

/** Registers TensorFlow.js's backend on WebGL. */
export const load: LoadWith<
  typeof import('@tensorflow/tfjs-core'),
  Pick<typeof import('@tensorflow/tfjs-backend-webgl'), 'setWebGLContext'>
> = () => import('@tensorflow/tfjs-backend-webgl');

import type { LoadWith } from './load.js';

/** Registers TensorFlow.js's backend in plain JavaScript. */
export const load: LoadWith<typeof import('@tensorflow/tfjs-core'), unknown> = () =>
  import('@tensorflow/tfjs-backend-cpu');

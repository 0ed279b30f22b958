import type { LoadWith } from './load.js';

/** Loads what runs layers models. */
export const load: LoadWith<
  typeof import('@tensorflow/tfjs-core'),
  Pick<typeof import('@tensorflow/tfjs-layers'), 'loadLayersModel'>
> = () => import('@tensorflow/tfjs-layers');

import type { Load } from './load.js';

/** TensorFlow.js without a backend. */
export interface TensorFlowCore {
  readonly core: typeof import('@tensorflow/tfjs-core');
  readonly loadGraphModel: typeof import('@tensorflow/tfjs-converter').loadGraphModel;
}

/** Loads TensorFlow.js's core, and its reader of graph models. */
export const load: Load<TensorFlowCore> = async () => {
  const [core, { loadGraphModel }] = await Promise.all([
    import('@tensorflow/tfjs-core'),
    import('@tensorflow/tfjs-converter'),
  ]);
  return { core, loadGraphModel };
};

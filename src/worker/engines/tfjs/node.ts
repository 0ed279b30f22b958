import type { Engine } from '../engine.js';
import { createEngine, startBackend } from './engine.js';

/** Starts TensorFlow.js in plain JavaScript under Node. */
export async function start(): Promise<Engine> {
  const core = await import('@tensorflow/tfjs-core');
  // Otherwise TensorFlow.js advises installing its native package.
  core.enableProdMode();
  await import('@tensorflow/tfjs-backend-cpu');
  const { loadGraphModel } = await import('@tensorflow/tfjs-converter');
  const tensorflow = { core, loadGraphModel, layers: () => import('@tensorflow/tfjs-layers') };
  await startBackend(tensorflow, 'cpu');
  return createEngine(tensorflow, { name: 'cpu', maxInteger: 2 ** 31 });
}

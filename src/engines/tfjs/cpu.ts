import '@tensorflow/tfjs-backend-cpu';
import type { Engine } from '../engine.js';
import { createEngine, startBackend } from './engine.js';

/** Starts TensorFlow.js in plain JavaScript: slow, but available in every browser. */
export async function start(): Promise<Engine> {
  await startBackend('cpu');
  return createEngine({ name: 'cpu', maxInteger: 2 ** 31 });
}

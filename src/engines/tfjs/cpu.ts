import '@tensorflow/tfjs-backend-cpu';
import type { Engine } from '../engine.js';
import { createEngine, startBackend } from './engine.js';

/** TensorFlow.js in plain JavaScript: slow, and everywhere. */
export async function start(): Promise<Engine> {
  await startBackend('cpu');
  return createEngine({ name: 'cpu', maxInteger: 2 ** 31 });
}

import type { Engine } from '../engine.js';
import { createEngine, startBackend } from './engine.js';
import type { Libraries } from './libraries.js';

/** Starts TensorFlow.js in plain JavaScript: slow, but available in every browser. */
export async function start(libraries: Promise<Libraries>): Promise<Engine> {
  const { tensorflow } = await libraries;
  await startBackend(tensorflow, 'cpu');
  return createEngine(tensorflow, { name: 'cpu', maxInteger: 2 ** 31 });
}

import { load } from '../../libraries/tfjs-cpu.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { createEngine, loadTensorFlow, startBackend } from './engine.js';

/** Starts TensorFlow.js in plain JavaScript: slow, but available in every browser. */
export async function start({ assets }: EngineEnvironment): Promise<Engine> {
  const { tensorflow } = await loadTensorFlow(assets, load);
  await startBackend(tensorflow, 'cpu');
  return createEngine(tensorflow, { name: 'cpu', maxInteger: 2 ** 31 });
}

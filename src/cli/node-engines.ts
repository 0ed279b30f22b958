import { createEngine } from '../engines/onnx/engine.js';
import { createEngine as createTensorFlow, startBackend } from '../engines/tfjs/engine.js';
import type { Engines } from '../engines/engine.js';

/** The engines that run under Node, both on the CPU: onnxruntime-web's own Node build, and TensorFlow.js in plain JavaScript. */
export const nodeEngines = {
  'onnx/wasm': async () => {
    const ort = await import('onnxruntime-web');
    return createEngine({ ort, provider: 'wasm', threads: 1 });
  },
  'tfjs/cpu': async () => {
    const core = await import('@tensorflow/tfjs-core');
    // Else TensorFlow.js advises to install its native package.
    core.enableProdMode();
    await import('@tensorflow/tfjs-backend-cpu');
    const { loadGraphModel } = await import('@tensorflow/tfjs-converter');
    const tensorflow = { core, loadGraphModel, layers: () => import('@tensorflow/tfjs-layers') };
    await startBackend(tensorflow, 'cpu');
    return createTensorFlow(tensorflow, { name: 'cpu', maxInteger: 2 ** 31 });
  },
} satisfies Engines;

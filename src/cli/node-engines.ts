import { createEngine } from '../engines/onnx/engine.js';
import type { Engines } from '../engines/engine.js';

/** The engines that run under Node, both on the CPU: onnxruntime-web's own Node build, and TensorFlow.js in plain JavaScript. */
export const nodeEngines = {
  'onnx/wasm': async () => {
    const ort = await import('onnxruntime-web');
    return createEngine({ ort, provider: 'wasm', threads: 1 });
  },
  'tfjs/cpu': async () => {
    // Else TensorFlow.js advises to install its native package.
    (await import('@tensorflow/tfjs-core')).enableProdMode();
    return await (await import('../engines/tfjs/cpu.js')).start();
  },
} satisfies Engines;

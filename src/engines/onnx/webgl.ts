import * as ort from 'onnxruntime-web/webgl';
import type { Engine } from '../engine.js';
import { createEngine } from './engine.js';

/** ONNX Runtime's WebGL provider. In maintenance, and wrong on some models: `backends/` offers it only when it is named. */
export function start(): Engine {
  return createEngine({
    ort,
    provider: 'webgl',
    threads: 1,
    // A lost context is not an error to it: it answers zeros.
    isLost: () => (ort.env.webgl.context as WebGLRenderingContext | undefined)?.isContextLost() ?? false,
  });
}

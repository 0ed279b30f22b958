import * as ort from 'onnxruntime-web/webgl';
import type { Engine, EngineEnvironment } from '../engine.js';
import { DeviceLoss } from '../device-loss.js';
import { createEngine } from './engine.js';

/** ONNX Runtime's WebGL provider. In maintenance, and wrong on some models: `backends/` offers it only when it is named. */
export function start({ onLost }: EngineEnvironment): Engine {
  const loss = new DeviceLoss(
    onLost,
    () => (ort.env.webgl.context as WebGLRenderingContext | undefined)?.isContextLost() ?? false,
  );
  let watched: EventTarget | undefined;
  return createEngine({
    ort,
    provider: 'webgl',
    threads: 1,
    gpu: {
      loss,
      // A lost context is not an error to it: it answers zeros.
      watch() {
        const { canvas } = ort.env.webgl.context as WebGLRenderingContext;
        if (canvas === watched) return;
        watched = canvas;
        canvas.addEventListener('webglcontextlost', () => loss.report());
      },
    },
  });
}

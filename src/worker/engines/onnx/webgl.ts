import { load } from '../../libraries/onnx-webgl.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { DeviceLoss } from '../device-loss.js';
import { createEngine } from './engine.js';

/**
 * Starts ONNX Runtime's WebGL provider. It is no longer developed and computes some models wrongly, so it serves only
 * after its outputs were proven correct.
 */
export async function start({ assets, powerPreference, onLost, warn }: EngineEnvironment): Promise<Engine> {
  const ort = await load(assets);
  if (powerPreference)
    warn?.(
      "powerPreference is ignored on onnx/webgl: ONNX Runtime takes the GPU that the browser chooses. To ask for one, name 'tfjs/webgl' or 'webgpu' in backends.",
    );
  const loss = new DeviceLoss(onLost, {
    isGone: () => (ort.env.webgl.context as WebGLRenderingContext | undefined)?.isContextLost() ?? false,
  });
  let watched: EventTarget | undefined;
  return createEngine({
    ort,
    provider: 'webgl',
    threads: 1,
    gpu: {
      loss,
      // The provider does not report a lost context: it returns zeros.
      watch() {
        const { canvas } = ort.env.webgl.context as WebGLRenderingContext;
        if (canvas === watched) return;
        watched = canvas;
        canvas.addEventListener('webglcontextlost', () => loss.report());
      },
    },
  });
}

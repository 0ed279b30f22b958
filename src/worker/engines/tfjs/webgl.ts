import type { MathBackendWebGL, setWebGLContext } from '@tensorflow/tfjs-backend-webgl';
import { TabServeError } from '../../../contract/errors.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { createEngine, startBackend } from './engine.js';
import type { Libraries } from './libraries.js';
import { DeviceLoss } from '../device-loss.js';

/** Those of TensorFlow.js's own context. */
const ATTRIBUTES = {
  alpha: false,
  antialias: false,
  premultipliedAlpha: false,
  preserveDrawingBuffer: false,
  depth: false,
  stencil: false,
};

/** Starts TensorFlow.js on WebGL 2, which stores integers as floats. */
export async function start(
  libraries: Promise<Libraries<{ readonly setWebGLContext: typeof setWebGLContext }>>,
  { powerPreference, onLost }: EngineEnvironment,
): Promise<Engine> {
  const { tensorflow, library } = await libraries;
  // The selection of backends decides whether to use a software GPU.
  tensorflow.core.env().set('SOFTWARE_WEBGL_ENABLED', true);
  // TensorFlow.js's own context asks for no GPU in particular.
  if (powerPreference) {
    const context = new OffscreenCanvas(1, 1).getContext('webgl2', { ...ATTRIBUTES, powerPreference });
    if (context) library.setWebGLContext(2, context);
  }
  const { gl } = (await startBackend<MathBackendWebGL>(tensorflow, 'webgl')).gpgpu;
  const loss = new DeviceLoss(onLost, { isGone: () => gl.isContextLost() });
  gl.canvas.addEventListener('webglcontextlost', () => loss.report());
  return createEngine(tensorflow, {
    name: 'webgl',
    maxInteger: 2 ** 24,
    loss,
    async watch(work) {
      const result = await work();
      // TensorFlow.js does not report a texture that does not fit: it computes with arbitrary data.
      if (gl.getError() === gl.OUT_OF_MEMORY)
        throw new TabServeError('out-of-memory', 'The GPU has not enough memory for the model.');
      return result;
    },
  });
}

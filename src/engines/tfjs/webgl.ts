import '@tensorflow/tfjs-backend-webgl';
import type { MathBackendWebGL } from '@tensorflow/tfjs-backend-webgl';
import { env } from '@tensorflow/tfjs-core';
import { TabServeError } from '../../contract/errors.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { createEngine, startBackend } from './engine.js';
import { DeviceLoss } from '../device-loss.js';

/** TensorFlow.js on WebGL 2. It keeps integers as floats. */
export async function start({ onLost }: EngineEnvironment): Promise<Engine> {
  // Whether software will do is for `backends/` to decide.
  env().set('SOFTWARE_WEBGL_ENABLED', true);
  const { gl } = (await startBackend<MathBackendWebGL>('webgl')).gpgpu;
  const loss = new DeviceLoss(onLost, () => gl.isContextLost());
  gl.canvas.addEventListener('webglcontextlost', () => loss.report());
  return createEngine({
    name: 'webgl',
    maxInteger: 2 ** 24,
    loss,
    async watch(work) {
      const result = await work();
      // A texture that does not fit is not an error to it: it computes with what is there.
      if (gl.getError() === gl.OUT_OF_MEMORY)
        throw new TabServeError('out-of-memory', 'The GPU has not enough memory for the model.');
      return result;
    },
  });
}

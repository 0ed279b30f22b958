import '@tensorflow/tfjs-backend-webgl';
import type { MathBackendWebGL } from '@tensorflow/tfjs-backend-webgl';
import { env } from '@tensorflow/tfjs-core';
import { TabServeError } from '../../contract/errors.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { createEngine, startBackend } from './engine.js';
import { DeviceLoss } from '../device-loss.js';

/** Starts TensorFlow.js on WebGL 2, which stores integers as floats. */
export async function start({ onLost }: EngineEnvironment): Promise<Engine> {
  // The selection of backends decides whether to use a software GPU.
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
      // TensorFlow.js does not report a texture that does not fit: it computes with arbitrary data.
      if (gl.getError() === gl.OUT_OF_MEMORY)
        throw new TabServeError('out-of-memory', 'The GPU has not enough memory for the model.');
      return result;
    },
  });
}

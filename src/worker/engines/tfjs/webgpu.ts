import type { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';
import { TabServeError } from '../../../contract/errors.js';
import type { Engine, EngineEnvironment } from '../engine.js';
import { createEngine, startBackend } from './engine.js';
import type { Libraries } from './libraries.js';
import { DeviceLoss } from '../device-loss.js';

/** The error scopes, innermost first. */
const FILTERS = ['internal', 'validation', 'out-of-memory'] as const;

/** Starts TensorFlow.js on WebGPU. */
export async function start(
  libraries: Promise<Libraries>,
  { powerPreference, onLost }: EngineEnvironment,
): Promise<Engine> {
  const { tensorflow } = await libraries;
  tensorflow.core.env().set('WEBGPU_USE_LOW_POWER_GPU', powerPreference === 'low-power');
  const { device } = await startBackend<WebGPUBackend>(tensorflow, 'webgpu');
  const loss = new DeviceLoss(onLost, { roundTrip: () => device.queue.onSubmittedWorkDone() });
  void device.lost.then(() => loss.report());
  return createEngine(tensorflow, {
    name: 'webgpu',
    maxInteger: 2 ** 31,
    loss,
    async watch(work) {
      // TensorFlow.js does not report a shader or buffer that the device refuses: it returns zeros.
      for (const filter of FILTERS.toReversed()) device.pushErrorScope(filter);
      const [result] = await Promise.allSettled([work()]);
      const errors = await Promise.all(
        FILTERS.map(async (filter) => ({ filter, error: await device.popErrorScope() })),
      );
      for (const { filter, error } of errors) {
        if (error)
          throw new TabServeError(
            filter === 'out-of-memory' ? filter : 'inference-failed',
            `WebGPU refused the model: ${error.message}`,
          );
      }
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    },
  });
}

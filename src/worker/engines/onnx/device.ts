import type { Env } from 'onnxruntime-web';
import { DeviceLoss } from '../device-loss.js';
import type { Build, Provide } from './engine.js';

/** ONNX Runtime's WebGPU provider. */
export const onWebgpu: Provide = (env, { onLost }) => ({ provider: 'webgpu', gpu: watchDevice(env, onLost) });

/** Watches the GPU device that ONNX Runtime creates with its first session. */
function watchDevice(env: Env, onLost: (why: string) => void): NonNullable<Build['gpu']> {
  let watched: GPUDevice | undefined;
  const loss = new DeviceLoss(onLost, { roundTrip: () => watched?.queue.onSubmittedWorkDone() });
  return {
    loss,
    get device() {
      return watched;
    },
    async watch(isInUse) {
      const device = (await env.webgpu.device) as GPUDevice | undefined;
      if (!device || device === watched) return;
      watched = device;
      // ONNX Runtime destroys the device with its last session, and makes another one for the next.
      void device.lost.then(() => isInUse() && loss.report());
    },
  };
}

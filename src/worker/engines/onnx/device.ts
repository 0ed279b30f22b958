import type { Env } from 'onnxruntime-web';
import type { PowerPreference } from '../../../contract/backends.js';
import { DeviceLoss } from '../device-loss.js';
import type { Build, Provide } from './engine.js';

/**
 * ONNX Runtime's WebGPU provider. It makes a device of the GPU with the most power itself; it has no option for another
 * one, but takes a device.
 */
export const onWebgpu: Provide = async (env, { powerPreference, onLost }) => {
  if (powerPreference !== 'low-power') return { provider: 'webgpu', gpu: watchDevice(env, onLost) };
  // Before it takes the device, it looks whether there is such a GPU.
  env.webgpu.powerPreference = powerPreference;
  const device = await requestDevice(powerPreference);
  const loss = new DeviceLoss(onLost, { roundTrip: () => device.queue.onSubmittedWorkDone() });
  void device.lost.then(() => loss.report());
  return {
    provider: 'webgpu',
    session: { executionProviders: [{ name: 'webgpu', device }] },
    gpu: { loss, device, watch() {} },
  };
};

/** Features that ONNX Runtime uses where a GPU has them. */
const FEATURES = ['shader-f16', 'subgroups'] as const;

/** Requests a device with what ONNX Runtime uses, and with all that its GPU can hold. */
async function requestDevice(powerPreference: PowerPreference): Promise<GPUDevice> {
  const adapter = await navigator.gpu.requestAdapter({ powerPreference });
  if (!adapter) throw new Error('WebGPU has no adapter here.');
  const requiredLimits: Record<string, number> = {};
  // Its keys are inherited.
  for (const name in adapter.limits) {
    const limit: unknown = adapter.limits[name as keyof GPUSupportedLimits];
    if (typeof limit === 'number') requiredLimits[name] = limit;
  }
  return await adapter.requestDevice({
    requiredFeatures: FEATURES.filter((name) => adapter.features.has(name)),
    requiredLimits,
  });
}

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

import type { Env } from 'onnxruntime-web';

/** Watches the GPU device that ONNX Runtime makes with its first session; true once that device is lost. */
export function watchDevice(env: Env): () => Promise<boolean> {
  let watched: unknown;
  let lost = false;
  return async () => {
    if (!watched) {
      const device = (await env.webgpu.device) as GPUDevice | undefined;
      if (device) {
        watched = device;
        void device.lost.then(() => (lost = true));
        await Promise.resolve();
      }
    }
    return lost;
  };
}

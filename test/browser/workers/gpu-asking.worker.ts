import { BaseHandler, expose } from '../../../src/worker.ts';

/** The GPUs that were asked for: `webgpu low-power`, `webgl undefined` and so on. */
const asked: string[] = [];

const { gpu } = navigator as Navigator & { readonly gpu?: GPU };
if (gpu) {
  const request = gpu.requestAdapter.bind(gpu);
  gpu.requestAdapter = (options) => {
    asked.push(`webgpu ${options?.powerPreference}`);
    return request(options);
  };
}
const getContext = OffscreenCanvas.prototype.getContext as (...args: unknown[]) => unknown;
OffscreenCanvas.prototype.getContext = function (this: OffscreenCanvas, ...args: unknown[]) {
  const [kind, options] = args as [string, WebGLContextAttributes | undefined];
  if (kind.startsWith('webgl')) asked.push(`webgl ${options?.powerPreference}`);
  return getContext.apply(this, args);
} as typeof OffscreenCanvas.prototype.getContext;

/** Describes itself by the GPUs that its worker has asked for. */
export class GpuAsking extends BaseHandler {
  override async describeHandle(): Promise<unknown> {
    return asked;
  }
}

expose(GpuAsking);

import { BaseHandler, expose, type Context, type TensorInput, type Tensors } from '../../../src/worker.ts';

// Keeps what ONNX Runtime makes, so that a request can take it away.
let lose = (): void => {};
const getContext = OffscreenCanvas.prototype.getContext as (this: OffscreenCanvas, ...args: unknown[]) => unknown;
OffscreenCanvas.prototype.getContext = function (this: OffscreenCanvas, ...args: unknown[]) {
  const context = getContext.apply(this, args);
  if (context instanceof WebGL2RenderingContext) lose = () => context.getExtension('WEBGL_lose_context')!.loseContext();
  return context;
} as never;
if (typeof GPUAdapter !== 'undefined') {
  const requestDevice = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (this: GPUAdapter, ...args) {
    const device = await requestDevice.apply(this, args);
    lose = () => device.destroy();
    return device;
  };
}

class Losing extends BaseHandler<TensorInput, Tensors> {
  override async preprocess(data: readonly TensorInput[], context: Context): Promise<Tensors> {
    if (context.params[0]?.['lose']) lose();
    return await super.preprocess(data, context);
  }
}

expose(Losing);

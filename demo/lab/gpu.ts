/**
 * Remembers the GPU device or context that an engine created last, so that `lose` can destroy it. Import it before an
 * engine starts.
 */
let loseGpu = (): void => {};
const getContext = OffscreenCanvas.prototype.getContext as (this: OffscreenCanvas, ...args: unknown[]) => unknown;
OffscreenCanvas.prototype.getContext = function (this: OffscreenCanvas, ...args: unknown[]) {
  const context = getContext.apply(this, args);
  if (context instanceof WebGL2RenderingContext)
    loseGpu = () => context.getExtension('WEBGL_lose_context')?.loseContext();
  return context;
} as never;
if (typeof GPUAdapter !== 'undefined') {
  const requestDevice = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (this: GPUAdapter, ...args) {
    const device = await requestDevice.apply(this, args);
    loseGpu = () => device.destroy();
    return device;
  };
}
/** WebNN, which TypeScript has no types for. */
const { ML } = globalThis as {
  readonly ML?: { prototype: { createContext(options?: object): Promise<{ destroy(): void }> } };
};
if (ML) {
  const { createContext } = ML.prototype;
  ML.prototype.createContext = async function (...args) {
    const context = await createContext.apply(this, args);
    loseGpu = () => context.destroy();
    return context;
  };
}

export function lose(): void {
  loseGpu();
}

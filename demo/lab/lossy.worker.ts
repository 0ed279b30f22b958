/** An image segmenter whose GPU can be taken away, and whose thread can be blocked, by a message of the page. */
import { expose, ImageSegmenter } from '../../src/worker.js';
import type { Harm } from './harm.js';

// Keeps the GPU that an engine makes: device or context, whichever came last.
let lose = (): void => {};
const getContext = OffscreenCanvas.prototype.getContext as (this: OffscreenCanvas, ...args: unknown[]) => unknown;
OffscreenCanvas.prototype.getContext = function (this: OffscreenCanvas, ...args: unknown[]) {
  const context = getContext.apply(this, args);
  if (context instanceof WebGL2RenderingContext) lose = () => context.getExtension('WEBGL_lose_context')?.loseContext();
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

addEventListener('message', ({ data }: MessageEvent<{ readonly harm?: Harm } | undefined>) => {
  if (data?.harm === 'lose') lose();
  if (data?.harm === 'block') for (;;);
});

expose(ImageSegmenter);

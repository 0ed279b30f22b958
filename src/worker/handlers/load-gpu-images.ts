import type { Context } from '../../contract/handler.js';
import type { Session, TensorInfo } from '../../contract/tensors.js';
import { deviceOf } from '../tensors/gpu-tensor.js';
import { divide } from '../transforms/tail.js';
import type { CompiledTransforms } from '../transforms/index.js';
import type { GpuImages } from './gpu-images.js';

/**
 * Loads the code that transforms images on the model's GPU. Returns undefined if the CPU transforms all images: the
 * model runs elsewhere, its input is not a float32 batch of any size or of one row, steps resize or pad the tensor, or
 * the GPU is software, which computes on the CPU as well, and more slowly.
 */
export function loadGpuImages(
  model: Session,
  { dtype, dims }: TensorInfo,
  transforms: CompiledTransforms,
  { warn }: Context,
): Promise<GpuImages | undefined> | undefined {
  const device = deviceOf(model);
  const takesOneRow = dims.length === 4 && (typeof dims[0] !== 'number' || dims[0] === 1);
  if (!device || device.adapterInfo?.isFallbackAdapter || dtype !== 'float32' || !takesOneRow) return undefined;
  if (divide(transforms.transforms).tail.length > 0) return undefined;
  return import('./gpu-images.js').then(
    ({ GpuImages }) => new GpuImages(device, transforms),
    (error: unknown) => {
      warn(`Images are transformed on the CPU, because the code for the GPU could not be loaded: ${String(error)}`);
      return undefined;
    },
  );
}

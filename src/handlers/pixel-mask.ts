import { zeroData } from '../contract/dtypes.js';
import type { Tensor, TensorInfo } from '../contract/tensors.js';
import { toFloat16 } from '../tensors/float16.js';

/** The name that transformers' exporters give a detector's input that says which pixels are the image's, not padding. */
export const PIXEL_MASK = 'pixel_mask';

/**
 * Returns the mask of images without padding: ones. A side that the model fixes has that size (some exports have 64 × 64), another one has the size of
 * the images.
 * @param size `[rows, height, width]` of the images
 */
export function pixelMask({ dtype, dims }: TensorInfo, size: readonly [number, number, number]): Tensor {
  const own = size.map((side, axis) => {
    const declared = dims[axis];
    return axis > 0 && typeof declared === 'number' ? declared : side;
  });
  const length = own.reduce((product, side) => product * side, 1);
  if (dtype === 'float16') return { dtype, dims: own, data: toFloat16(new Float32Array(length).fill(1)) };
  const data = zeroData(dtype, length);
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) data.fill(1n);
  else (data as Float32Array).fill(1);
  return { dtype, dims: own, data };
}

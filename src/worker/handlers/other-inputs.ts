/** The inputs that a model of images has beside the images, and what fills them. */
import { zeroData } from '../../contract/dtypes.js';
import type { Tensor, TensorInfo } from '../../contract/tensors.js';
import type { Size } from '../outputs/boxes/decoder.js';
import { toFloat16 } from '../tensors/float16.js';

/** The size of a batch of images, in pixels of their tensor. */
export interface BatchSize {
  readonly rows: number;
  readonly height: number;
  readonly width: number;
  /** Of each row, the part at the top left that is the image's, if the rest is padding. */
  readonly contents?: readonly (Size | undefined)[];
}

/**
 * The name that transformers' exporters give a detector's input that says which pixels are the image's, not padding.
 */
export const PIXEL_MASK = 'pixel_mask';

/**
 * What a detector is told of the photo's size, so that it returns boxes in the photo's pixels. It is told that the
 * tensor is the photo: then boxes are in pixels of the tensor, which the handler maps to the photo, letterboxed or not.
 *
 * @see https://github.com/lyuwenyu/RT-DETR/blob/main/rtdetrv2_pytorch/src/zoo/rtdetr/rtdetr_postprocessor.py
 *   `orig_target_sizes`, as in D-FINE and DEIM: [width, height], by which boxes in fractions are multiplied
 * @see https://github.com/PaddlePaddle/PaddleDetection/blob/develop/deploy/python/preprocess.py `im_shape`, [height,
 *   width] of the resized photo, and `scale_factor`, [y, x], by which it was resized, and boxes are divided
 */
const SIZES: Readonly<Record<string, (size: BatchSize) => readonly [number, number]>> = {
  orig_target_sizes: ({ width, height }) => [width, height],
  im_shape: ({ width, height }) => [height, width],
  scale_factor: () => [1, 1],
};

/** The names of a photo's sizes. */
export const SIZE_NAMES = Object.keys(SIZES);

/** Returns whether an input is filled. @param withSizes whether boxes are mapped from pixels of the tensor */
export function isFilled({ name, dims }: TensorInfo, withSizes: boolean): boolean {
  return name === PIXEL_MASK || (withSizes && Object.hasOwn(SIZES, name) && dims.length === 2 && dims[1] === 2);
}

/** Returns the tensor of an input for which `isFilled` is true. */
export function filled(info: TensorInfo, size: BatchSize): Tensor {
  const sizes = Object.hasOwn(SIZES, info.name) ? SIZES[info.name]!(size) : undefined;
  return sizes ? repeat(info, [size.rows, 2], sizes) : pixelMask(info, size);
}

/**
 * Returns the mask of images, [rows, height, width]: 1 for a pixel of the image, 0 for padding. A side that the model
 * fixes has that size (some exports have 64 × 64), another one has the size of the images.
 */
export function pixelMask(info: TensorInfo, { rows, height, width, contents = [] }: BatchSize): Tensor {
  const own = [rows, height, width].map((side, axis) => {
    const declared = info.dims[axis];
    return axis > 0 && typeof declared === 'number' ? declared : side;
  });
  if (!contents.some(Boolean)) return repeat(info, own, [1]);
  const [, maskHeight, maskWidth] = own as [number, number, number];
  const mask = repeat(info, own, [0]);
  const data = mask.data as Float32Array;
  const one = repeat(info, [1], [1]).data[0] as number;
  for (let row = 0; row < rows; row++) {
    const content = contents[row] ?? { width, height };
    const columns = Math.ceil((content.width * maskWidth) / width);
    const lines = Math.ceil((content.height * maskHeight) / height);
    for (let y = 0; y < lines; y++) {
      const start = (row * maskHeight + y) * maskWidth;
      data.fill(one, start, start + columns);
    }
  }
  return mask;
}

/** Returns a tensor of the input's dtype that has the values again and again. */
function repeat({ dtype }: TensorInfo, dims: readonly number[], values: readonly number[]): Tensor {
  const length = dims.reduce((product, dim) => product * dim, 1);
  if (dtype === 'float16')
    return { dtype, dims, data: toFloat16(Float32Array.from({ length }, (_, at) => values[at % values.length]!)) };
  const data = zeroData(dtype, length) as Float32Array;
  const own = data instanceof BigInt64Array || data instanceof BigUint64Array ? values.map(BigInt) : values;
  for (let at = 0; at < length; at++) data[at] = own[at % own.length] as number;
  return { dtype, dims, data };
}

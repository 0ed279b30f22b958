/**
 * Functions that return steps. Each throws `model-config`, naming the option, if an option has a wrong value.
 */
import { readStep } from './read.js';
import type {
  ColorOrder,
  FillColor,
  HeightWidth,
  Interpolation,
  TensorLayout,
  LetterboxPosition,
  ResizedSide,
  ToMultiple,
  Rounding,
  TransformStep,
  Transforms,
} from './steps.js';

/** Returns the steps as a list. `compileTransforms` checks their order. */
export function compose(...steps: readonly TransformStep[]): Transforms {
  return steps;
}

/**
 * Resizes with antialiasing, as torchvision resizes a Pillow image. `nearest` takes the pixel under the center, without
 * antialiasing; `box` and `hamming` are Pillow's. If `size` is a number, the shorter side becomes `size` and the
 * longer one `trunc(size * long / short)`. If the longer side then exceeds `maxSize`, which must be greater than
 * `size`, it becomes `maxSize` and the shorter side `trunc(maxSize * size / longer)`. With `rounding: 'transformers'`
 * the sides are those of transformers' `get_size_with_aspect_ratio`: with `maxSize` they may differ by a pixel, and
 * `maxSize` may equal `size`.
 * @param size the shorter side, or [height, width]: positive integers; or `image`, the image's own size
 */
export function resize(
  size: number | HeightWidth | 'image',
  options: {
    readonly interpolation?: Interpolation;
    /**
     * Which side becomes `size`, if that is a number. With `longer`, the other one is rounded half up, as Segment
     * Anything's `ResizeLongestSide`.
     * @default 'shorter'
     */
    readonly side?: ResizedSide;
    readonly maxSize?: number;
    /** Rounds both sides to a multiple of this number. */ readonly multipleOf?: number;
    /** @default 'down' */ readonly toMultiple?: ToMultiple;
    /** Of [height, width]: gives both sides the scale that changes the image less. */
    readonly keepAspectRatio?: boolean;
    /** Of [height, width]: shrinks an image that is larger so that it fits, and keeps its aspect ratio, as Donut does. */
    readonly thumbnail?: boolean;
    /** @default 'torchvision' */ readonly rounding?: Rounding;
  } = {},
): TransformStep {
  return readStep('resize', { size, ...options }, 'resize');
}

/**
 * Crops the center. An image that is smaller than the crop is padded with black. An odd pixel goes where torchvision
 * puts it: a crop starts at `(image - crop) / 2`, with a half rounded to even; padding has the odd pixel on the right
 * and at the bottom. With `rounding: 'transformers'` it goes where transformers' `center_crop` puts it: a crop starts
 * at `(image - crop) / 2` rounded down, and padding has the odd pixel on the left and at the top.
 */
export function centerCrop(
  size: number | HeightWidth,
  options: { /** @default 'torchvision' */ readonly rounding?: Rounding } = {},
): TransformStep {
  return readStep('centerCrop', { size, ...options }, 'centerCrop');
}

/**
 * Adds a border. In an archive's config this step is `pad`.
 * @param padding in pixels, non-negative integers: all sides, `[left and right, top and bottom]`, or
 *   `[left, top, right, bottom]`
 */
export function padImage(
  padding: number | readonly [number, number] | readonly [number, number, number, number],
  options: { /** @default 0 */ readonly fill?: FillColor } = {},
): TransformStep {
  return readStep('pad', { padding, ...options }, 'pad');
}

/**
 * Continues the image beyond its edges as in a mirror.
 * @param options either `multipleOf`: on the right and at the bottom, to the next multiple above the image's own sides,
 *   with the pixels of the edge twice, as Swin2SR's processor in transformers; or `margin`: on all sides, by
 *   `trunc(sqrt(side / 2) * margin)` pixels, with the pixels of the edge once, as ZoeDepth's
 */
export function mirror(options: { readonly multipleOf: number } | { readonly margin: number }): TransformStep {
  return readStep('mirror', options, 'mirror');
}

/**
 * Resizes the image to the largest size that fits, keeping its aspect ratio, and pads it to the exact size. With
 * `s = min(h / height, w / width)` the new sides are `height * s` and `width * s`, with a half rounded to even, and at
 * least 1. The image is centered; an odd pixel of padding is on the right and at the bottom. These are Ultralytics'
 * rules, with its gray. With `position: 'top-left'`, as in YOLOX, all padding is on the right and at the bottom.
 */
export function letterbox(
  size: HeightWidth,
  options: {
    /** @default 114 */ readonly fill?: FillColor;
    /** @default 'bilinear' */ readonly interpolation?: Interpolation;
    /** @default 'center' */ readonly position?: LetterboxPosition;
  } = {},
): TransformStep {
  return readStep('letterbox', { size, ...options }, 'letterbox');
}

/**
 * Converts to gray as Pillow's mode `L`, `(19595 R + 38470 G + 7471 B + 32768) >> 16`: one channel, or three equal
 * ones.
 */
export function grayscale(options: { /** @default 1 */ readonly channels?: 1 | 3 } = {}): TransformStep {
  return readStep('grayscale', options, 'grayscale');
}

/**
 * Sets the order of the tensor's channels, which is RGB by default. A `fill` stays RGB, wherever this step is; `mean`
 * and `std` follow the order.
 */
export function colorOrder(order: ColorOrder): TransformStep {
  return readStep('colorOrder', order, 'colorOrder');
}

/**
 * Converts pixels (0..255) to float32. By default each value is divided by 255 in float32, as in torchvision, which
 * gives 0..1. With another `scale` it is multiplied by float32(scale): `scale: 1` leaves 0..255. With
 * `rounding: 'transformers'` it is multiplied by `scale` in float64 and rounded to float32 once, as in transformers'
 * `rescale`.
 */
export function toTensor(
  options: {
    /** @default 1 / 255 */ readonly scale?: number;
    /** @default 'torchvision' */ readonly rounding?: Rounding;
  } = {},
): TransformStep {
  return readStep('toTensor', options, 'toTensor');
}

/**
 * Computes `(x - mean) / std` in float32, and rounds after each of the two operations, as torch does.
 * @param mean one number per channel, or one for all channels
 * @param std the same; none may be 0
 */
export function normalize(mean: readonly number[], std: readonly number[]): TransformStep {
  return readStep('normalize', { mean, std }, 'normalize');
}

/**
 * Resizes the tensor bilinearly, as torch's `interpolate` with the same options: by default, the centers of its corners
 * stay (`align_corners`). With `antialias`, it does what `resize` does to pixels, without rounding to 8 bits. Options as
 * those of `resize` for [height, width].
 */
export function resizeTensor(
  size: HeightWidth,
  options: {
    readonly multipleOf?: number;
    readonly toMultiple?: ToMultiple;
    readonly keepAspectRatio?: boolean;
    /** @default false */ readonly antialias?: boolean;
    /** @default true without `antialias` */ readonly alignCorners?: boolean;
  } = {},
): TransformStep {
  return readStep('resizeTensor', { size, ...options }, 'resizeTensor');
}

/**
 * Pads the tensor with zeros, which after `normalize` are the mean color.
 * @param options either `size`, [height, width], or `multipleOf`, up to a multiple of which each side grows. With
 *   `position: 'center'` an odd pixel is on the right and at the bottom
 */
export function padTensor(
  options: ({ readonly size: HeightWidth } | { readonly multipleOf: number }) & {
    /** @default 'top-left' */ readonly position?: LetterboxPosition;
  },
): TransformStep {
  return readStep('padTensor', options, 'padTensor');
}

/**
 * Pads the tensor to a square, the image at the top left, and resizes it to `side` × `side`: bilinearly, smoothed by a
 * Gaussian before if it shrinks, as OWLv2's processor does.
 * @param options `fill` is the number of what is padded, before `normalize`: gray by default
 */
export function letterboxTensor(
  side: number,
  options: { /** @default 0.5 */ readonly fill?: number } = {},
): TransformStep {
  return readStep('letterboxTensor', { side, ...options }, 'letterboxTensor');
}

/** Sets the tensor's layout: channels first (`NCHW`, torchvision's, the default) or last (`NHWC`). */
export function layout(order: TensorLayout): TransformStep {
  return readStep('layout', order, 'layout');
}

/**
 * The steps as functions. Each throws `model-config`, naming the option, if one has a wrong value.
 */
import { readStep } from './read.js';
import type {
  ColorOrder,
  FillColor,
  HeightWidth,
  Interpolation,
  TensorLayout,
  LetterboxPosition,
  TransformStep,
  Transforms,
} from './steps.js';

/** The steps as they are. Their order is checked by `compileTransforms`. */
export function compose(...steps: readonly TransformStep[]): Transforms {
  return steps;
}

/**
 * Scales, antialiased, as torchvision does a Pillow image; `nearest` takes the pixel under the center.
 * A number is the shorter side: the longer one becomes `trunc(size * long / short)`. With `maxSize`, which must be greater than `size`,
 * a longer side beyond it becomes `maxSize`, and the shorter one `trunc(maxSize * size / longer)`.
 * @param size positive integers
 */
export function resize(
  size: number | HeightWidth,
  options: { readonly interpolation?: Interpolation; readonly maxSize?: number } = {},
): TransformStep {
  return readStep('resize', { size, ...options }, 'resize');
}

/**
 * Cuts out the center; what is missing of an image that is smaller is filled with black. An odd pixel goes where torchvision has it:
 * cropping starts at `(image - crop) / 2`, a half rounded to even; padding puts the odd pixel right and below.
 */
export function centerCrop(size: number | HeightWidth): TransformStep {
  return readStep('centerCrop', { size }, 'centerCrop');
}

/**
 * Adds a border.
 * @param padding non-negative integers: all sides, `[left and right, top and bottom]`, or `[left, top, right, bottom]`
 */
export function padImage(
  padding: number | readonly [number, number] | readonly [number, number, number, number],
  options: { /** @default 0 */ readonly fill?: FillColor } = {},
): TransformStep {
  return readStep('pad', { padding, ...options }, 'pad');
}

/**
 * Scales so that the whole image just fits, keeps its ratio, and pads to the exact size. With `s = min(h / height, w / width)` the scaled sides
 * are `height * s` and `width * s`, a half rounded to even and at least 1; the image is centered, an odd pixel of padding goes right and below.
 * These are Ultralytics' rules, and its gray. With `position: 'top-left'`, as YOLOX has it, all padding goes right and below.
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

/** Pillow's `L`: `(19595 R + 38470 G + 7471 B + 32768) >> 16`, in one channel or repeated in three. */
export function grayscale(options: { /** @default 1 */ readonly channels?: 1 | 3 } = {}): TransformStep {
  return readStep('grayscale', options, 'grayscale');
}

/** The order of the tensor's channels, RGB unless said. Fills stay RGB wherever this step stands; `mean` and `std` follow the order. */
export function colorOrder(order: ColorOrder): TransformStep {
  return readStep('colorOrder', order, 'colorOrder');
}

/**
 * 0..255 become float32. By default the value is divided by 255 in float32, as torchvision does, to 0..1;
 * with another `scale` it is multiplied by float32(scale): 1 leaves 0..255.
 */
export function toTensor(options: { /** @default 1 / 255 */ readonly scale?: number } = {}): TransformStep {
  return readStep('toTensor', options, 'toTensor');
}

/**
 * `(x - mean) / std` in float32, each of the two operations rounded, as torch does it.
 * @param mean one number a channel, or one for all; so `std`, where none may be 0
 */
export function normalize(mean: readonly number[], std: readonly number[]): TransformStep {
  return readStep('normalize', { mean, std }, 'normalize');
}

/** Channels first (`NCHW`, what torchvision makes and the default) or last (`NHWC`). */
export function layout(order: TensorLayout): TransformStep {
  return readStep('layout', order, 'layout');
}

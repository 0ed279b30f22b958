/**
 * Pixel steps become three primitive operations once the size of the image is known. All rounding of sizes and positions is here.
 */
import { TabServeError } from '../contract/errors.js';
import type { FillColor, Interpolation, StepOptions, Transforms } from './steps.js';

/** One primitive operation; `width` and `height` are those of its result. */
export type Primitive = { readonly width: number; readonly height: number } & (
  | { readonly kind: 'resize'; readonly interpolation: Interpolation }
  /** The image lies with its corner at (`x`, `y`), which may be negative, on a canvas of `fill`. */
  | { readonly kind: 'place'; readonly x: number; readonly y: number; readonly fill: FillColor }
  | { readonly kind: 'gray' }
);

/**
 * Where a point of the image lies in the tensor: `x * scaleX + offsetX`, `y * scaleY + offsetY`. Coordinates are continuous, in pixels;
 * (0, 0) is the outer corner of the first pixel.
 */
export interface Geometry {
  readonly scaleX: number;
  readonly scaleY: number;
  readonly offsetX: number;
  readonly offsetY: number;
}

/** What is done to an image of one size. `width` and `height` are the tensor's. */
export interface Lowered {
  readonly primitives: readonly Primitive[];
  readonly width: number;
  readonly height: number;
  readonly geometry: Geometry;
}

/** @throws `invalid-input` if the image is empty, or so long and thin that a resize leaves nothing of it */
export function lower(transforms: Transforms, width: number, height: number): Lowered {
  if (!(width > 0 && height > 0))
    throw new TabServeError('invalid-input', `An image of ${width} × ${height} pixels cannot be transformed.`);
  const primitives: Primitive[] = [];
  const geometry = { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 };

  const scaleTo = (newWidth: number, newHeight: number, interpolation: Interpolation): void => {
    if (newWidth === width && newHeight === height) return;
    if (newWidth < 1 || newHeight < 1)
      throw new TabServeError(
        'invalid-input',
        `An image of ${width} × ${height} pixels would be resized to ${newWidth} × ${newHeight}.`,
      );
    // Pillow halves the work on very tall images by the other order of passes, and with it changes the rounding.
    if (height > width * 100 && newHeight < height && newWidth !== width) scaleTo(width, newHeight, interpolation);
    primitives.push({ kind: 'resize', width: newWidth, height: newHeight, interpolation });
    geometry.scaleX *= newWidth / width;
    geometry.offsetX *= newWidth / width;
    geometry.scaleY *= newHeight / height;
    geometry.offsetY *= newHeight / height;
    width = newWidth;
    height = newHeight;
  };
  const place = (x: number, y: number, newWidth: number, newHeight: number, fill: FillColor): void => {
    if (x === 0 && y === 0 && newWidth === width && newHeight === height) return;
    primitives.push({ kind: 'place', x, y, width: newWidth, height: newHeight, fill });
    geometry.offsetX += x;
    geometry.offsetY += y;
    width = newWidth;
    height = newHeight;
  };

  for (const step of transforms) {
    if ('resize' in step) {
      const [newHeight, newWidth] = resizedSize(step.resize, width, height);
      scaleTo(newWidth, newHeight, step.resize.interpolation);
    } else if ('centerCrop' in step) {
      const [cropHeight, cropWidth] = step.centerCrop.size;
      place(cropOffset(width, cropWidth), cropOffset(height, cropHeight), cropWidth, cropHeight, 0);
    } else if ('pad' in step) {
      const [left, top, right, bottom] = step.pad.padding;
      place(left, top, left + width + right, top + height + bottom, step.pad.fill);
    } else if ('letterbox' in step) {
      const {
        size: [boxHeight, boxWidth],
        fill,
        interpolation,
        position,
      } = step.letterbox;
      const scale = Math.min(boxHeight / height, boxWidth / width);
      scaleTo(Math.max(1, roundHalfEven(width * scale)), Math.max(1, roundHalfEven(height * scale)), interpolation);
      const before = (padding: number): number => (position === 'center' ? Math.floor(padding / 2) : 0);
      place(before(boxWidth - width), before(boxHeight - height), boxWidth, boxHeight, fill);
    } else if ('grayscale' in step) {
      primitives.push({ kind: 'gray', width, height });
    }
  }
  return { primitives, width, height, geometry };
}

/** @see https://github.com/pytorch/vision/blob/main/torchvision/transforms/functional.py `_compute_resized_output_size` */
function resizedSize(
  { size, maxSize }: StepOptions['resize'],
  width: number,
  height: number,
): readonly [height: number, width: number] {
  if (typeof size !== 'number') return size;
  let short = size;
  let long = Math.trunc((size * Math.max(width, height)) / Math.min(width, height));
  if (maxSize !== undefined && long > maxSize) {
    short = Math.trunc((maxSize * short) / long);
    long = maxSize;
  }
  return width <= height ? [long, short] : [short, long];
}

/** Where a centered crop puts the image's edge: torchvision first pads what is too small, then crops. */
function cropOffset(image: number, crop: number): number {
  return crop > image ? Math.floor((crop - image) / 2) : -roundHalfEven((image - crop) / 2);
}

/** Python's `round`. */
function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

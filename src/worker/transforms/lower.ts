/**
 * Turns pixel steps into three primitive operations, once the size of the image is known. Sizes and positions are
 * rounded here and nowhere else.
 */
import { TabServeError } from '../../contract/errors.js';
import { MAX_RESIZED_SIDE, MAX_TENSOR_ELEMENTS } from '../../contract/limits.js';
import { roundHalfEven } from '../tensors/round.js';
import type { FillColor, HeightWidth, Interpolation, Rounding, StepOptions, Transforms } from './steps.js';

/** One primitive operation. `width` and `height` are those of its result. */
export type Primitive = { readonly width: number; readonly height: number } & (
  | { readonly kind: 'resize'; readonly interpolation: Interpolation }
  /** Puts the image's top left corner at (`x`, `y`) of a canvas that is filled with `fill`. Both may be negative. */
  /** Mirrors the image at its edges: `x` pixels on its left, `y` above, the rest right and below. */
  | { readonly kind: 'mirror'; readonly x: number; readonly y: number; readonly isEdgeTwice: boolean }
  | { readonly kind: 'place'; readonly x: number; readonly y: number; readonly fill: FillColor }
  | { readonly kind: 'gray' }
);

/**
 * How points of the image and of the tensor relate. The point (x, y) of the upright image lies at
 * (`x * scaleX + offsetX`, `y * scaleY + offsetY`) in the tensor, and the point (u, v) of the tensor at
 * (`(u - offsetX) / scaleX`, `(v - offsetY) / scaleY`) in the image.
 *
 * Coordinates are in pixels and continuous: (0, 0) is the top left corner of the first pixel, (0.5, 0.5) its center,
 * (width, height) the bottom right corner of the last one. A point of the image that a crop has cut off lies outside of
 * the tensor; a point in padding lies outside of the image.
 *
 * For example, `letterbox([640, 640])` scales an image of 1280 × 720 by 0.5 and puts 140 rows above it: scaleX and
 * scaleY are 0.5, offsetX is 0 and offsetY is 140. A detector's box from (100, 200) to (300, 400) in the tensor is the
 * box from (200, 120) to (600, 520) in the image.
 */
export interface Geometry {
  readonly scaleX: number;
  readonly scaleY: number;
  readonly offsetX: number;
  readonly offsetY: number;
}

/** The operations on an image of one size. `width` and `height` are those of the tensor. */
export interface Lowered {
  readonly primitives: readonly Primitive[];
  readonly width: number;
  readonly height: number;
  readonly geometry: Geometry;
}

/**
 * Returns the operations for an image of this size.
 * @throws `invalid-input` if the image is empty, or so long and thin that a resize would leave no pixel of it
 */
export function lower(transforms: Transforms, width: number, height: number): Lowered {
  if (!(width > 0 && height > 0))
    throw new TabServeError(
      'invalid-input',
      `An image of ${width} × ${height} pixels cannot be transformed: it needs at least one pixel.`,
    );
  const image = `${width} × ${height}`;
  const primitives: Primitive[] = [];
  const geometry = { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 };

  const scaleTo = (newWidth: number, newHeight: number, interpolation: Interpolation): void => {
    if (newWidth === width && newHeight === height) return;
    if (newWidth < 1 || newHeight < 1)
      throw new TabServeError(
        'invalid-input',
        `An image of ${width} × ${height} pixels would be resized to ${newWidth} × ${newHeight}, which leaves no pixel. Use a less narrow image, or a resize to [height, width].`,
      );
    if (newWidth > MAX_RESIZED_SIDE || newHeight > MAX_RESIZED_SIDE)
      throw new TabServeError(
        'invalid-input',
        `An image of ${width} × ${height} pixels would be resized to ${newWidth} × ${newHeight}, and the limit of a side is ${MAX_RESIZED_SIDE}. Use a less narrow image, a resize to [height, width], or maxSize.`,
      );
    // Pillow 12.3.0 makes the vertical pass first where an image is more than 100 times taller than wide
    // (`Image.resize`, its pull request 9524), which changes the rounding in between. Later versions may have another
    // rule: its pull request 9549 widens this one.
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

  const mirror = ({ multipleOf, margin = 0 }: StepOptions['mirror']): void => {
    const around = (side: number): number => Math.trunc(Math.sqrt(side / 2) * margin);
    const before = { x: around(width), y: around(height) };
    const after = (side: number, own: number): number =>
      multipleOf === undefined ? own : multipleOf - (side % multipleOf);
    const [right, bottom] = [after(width, before.x), after(height, before.y)];
    const isEdgeTwice = multipleOf !== undefined;
    width += before.x + right;
    height += before.y + bottom;
    primitives.push({ kind: 'mirror', ...before, width, height, isEdgeTwice });
    geometry.offsetX += before.x;
    geometry.offsetY += before.y;
  };

  for (const step of transforms) {
    if ('resize' in step) {
      const [newHeight, newWidth] = resizedSize(step.resize, width, height);
      scaleTo(newWidth, newHeight, step.resize.interpolation);
    } else if ('centerCrop' in step) {
      const {
        size: [cropHeight, cropWidth],
        rounding,
      } = step.centerCrop;
      const offset = (image: number, crop: number): number => cropOffset(image, crop, rounding);
      place(offset(width, cropWidth), offset(height, cropHeight), cropWidth, cropHeight, 0);
    } else if ('pad' in step) {
      const [left, top, right, bottom] = step.pad.padding;
      place(left, top, left + width + right, top + height + bottom, step.pad.fill);
    } else if ('mirror' in step) {
      mirror(step.mirror);
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
  if (3 * width * height > MAX_TENSOR_ELEMENTS)
    throw new TabServeError(
      'invalid-input',
      `An image of ${image} pixels would become a tensor of ${width} × ${height} pixels, and the limit is ${MAX_TENSOR_ELEMENTS} numbers. Use smaller sizes in imageProcessing.`,
    );
  return { primitives, width, height, geometry };
}

/** Returns the size that a resize gives an image. */
function resizedSize(
  options: StepOptions['resize'],
  width: number,
  height: number,
): readonly [height: number, width: number] {
  const { size, side, maxSize, rounding, thumbnail } = options;
  if (size === 'image') return toMultiples([height, width], options);
  if (typeof size !== 'number' && thumbnail) return thumbnailSize(size, width, height);
  if (typeof size !== 'number') return constrainedSize(size, options, width, height);
  const sides =
    side === 'longer'
      ? longerSize(size, width, height)
      : rounding === 'transformers'
        ? transformersSize(size, maxSize, width, height)
        : torchvisionSize(size, maxSize, width, height);
  return toMultiples(sides, options);
}

type Multiples = Pick<StepOptions['resize'], 'multipleOf' | 'toMultiple'>;

const ROUND = { down: Math.floor, nearest: roundHalfEven, up: Math.ceil } as const;

function toMultiples(sides: HeightWidth, { multipleOf = 1, toMultiple = 'down' }: Multiples): HeightWidth {
  const side = (exact: number): number => ROUND[toMultiple](exact / multipleOf) * multipleOf;
  return [side(sides[0]), side(sides[1])];
}

/**
 * Returns a size, with its sides rounded to multiples; to keep the aspect ratio, both get the scale that changes the image
 * less, and are rounded to the nearest pixel.
 * @see https://github.com/huggingface/transformers/blob/main/src/transformers/models/dpt/image_processing_dpt.py
 *   `get_resize_output_image_size`
 */
export function constrainedSize(
  size: HeightWidth,
  options: Multiples & { readonly keepAspectRatio?: boolean },
  width: number,
  height: number,
): HeightWidth {
  const { multipleOf, keepAspectRatio = false, toMultiple } = options;
  if (multipleOf === undefined && !keepAspectRatio) return size;
  const scales = [size[0] / height, size[1] / width] as const;
  const less = Math.abs(1 - scales[1]) < Math.abs(1 - scales[0]) ? scales[1] : scales[0];
  const [down, across] = keepAspectRatio ? [less, less] : scales;
  // The order of the operations decides on which side of a half a product lies.
  return toMultiples([down * height, across * width], {
    ...options,
    toMultiple: multipleOf === undefined ? 'nearest' : (toMultiple ?? 'down'),
  });
}

/**
 * Returns the size of an image that is shrunk to fit, where it does not.
 * @see https://github.com/huggingface/transformers/blob/main/src/transformers/models/donut/image_processing_donut.py
 *   `thumbnail`
 */
function thumbnailSize(size: HeightWidth, width: number, height: number): HeightWidth {
  const [tall, wide] = [Math.min(height, size[0]), Math.min(width, size[1])];
  if (tall === height && wide === width) return [height, width];
  if (height > width) return [tall, Math.trunc((width * tall) / height)];
  return width > height ? [Math.trunc((height * wide) / width), wide] : [tall, wide];
}

/**
 * @see https://github.com/facebookresearch/segment-anything/blob/main/segment_anything/utils/transforms.py
 *   `get_preprocess_shape`
 */
function longerSize(size: number, width: number, height: number): HeightWidth {
  // The order of the operations decides on which side of a half a product lies.
  const scale = size / Math.max(width, height);
  return [Math.trunc(height * scale + 0.5), Math.trunc(width * scale + 0.5)];
}

/**
 * @see https://github.com/huggingface/transformers/blob/main/src/transformers/image_transforms.py
 *   `get_size_with_aspect_ratio`
 */
function transformersSize(
  size: number,
  maxSize: number | undefined,
  width: number,
  height: number,
): readonly [height: number, width: number] {
  const [shorter, longer] = width < height ? [width, height] : [height, width];
  // The order of the operations decides on which side of an integer a product lies.
  const limited = maxSize !== undefined && (longer / shorter) * size > maxSize;
  const exact = limited ? (maxSize * shorter) / longer : size;
  const short = limited ? roundHalfEven(exact) : size;
  if (shorter === short) return [height, width];
  const long = Math.trunc((exact * longer) / shorter);
  return width < height ? [long, short] : [short, long];
}

/**
 * @see https://github.com/pytorch/vision/blob/main/torchvision/transforms/functional.py `_compute_resized_output_size`
 */
function torchvisionSize(
  size: number,
  maxSize: number | undefined,
  width: number,
  height: number,
): readonly [height: number, width: number] {
  let short = size;
  let long = Math.trunc((size * Math.max(width, height)) / Math.min(width, height));
  if (maxSize !== undefined && long > maxSize) {
    short = Math.trunc((maxSize * short) / long);
    long = maxSize;
  }
  return width <= height ? [long, short] : [short, long];
}

/**
 * Returns where a centered crop puts the image's edge. torchvision first pads an image that is too small, then crops
 * it.
 */
function cropOffset(image: number, crop: number, rounding?: Rounding): number {
  if (rounding === 'transformers') return -Math.floor((image - crop) / 2);
  return crop > image ? Math.floor((crop - image) / 2) : -roundHalfEven((image - crop) / 2);
}

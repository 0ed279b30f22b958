/** The masks of models that find boxes first: of prototypes (YOLO), or of each box (Mask R-CNN). */
import type { Size } from '../../outputs/boxes/decoder.js';
import type { Box } from '../../outputs/boxes/detection.js';
import { axis, eachRow, type Axis, type Grid } from '../../outputs/interpolate.js';
import type { Maps } from '../../outputs/maps.js';
import { MaskPixels, type BoxedMask } from '../../outputs/runs.js';

/** The probability above which a pixel is in a mask, for a map of probabilities. */
type Threshold = number;

/**
 * Returns the pixels of a box where a sum of prototypes has a high enough probability; undefined if there are none.
 *
 * The sum, of logits, is interpolated bilinearly at the photo's pixels. A pixel is in the box if its index is at least
 * the box's low side and below the high one, as in the crop of YOLACT.
 * @see https://arxiv.org/abs/1904.02689 section 3.2: M = σ(P Cᵀ)
 * @param coefficients one for each prototype
 * @param grid samples a map of the prototypes' size at the photo's pixels
 */
export function prototypeMask(
  coefficients: ArrayLike<number>,
  prototypes: Maps,
  grid: Grid,
  box: Box,
  threshold: Threshold,
): BoxedMask | undefined {
  const { width, height, data } = prototypes;
  const size = width * height;
  const sum = new Float32Array(size);
  for (let channel = 0; channel < prototypes.channels; channel++) {
    const coefficient = coefficients[channel]!;
    for (let at = 0; at < size; at++) sum[at]! += coefficient * data[channel * size + at]!;
  }
  const inBox = { columns: within(grid.columns, box.xmin, box.xmax), rows: within(grid.rows, box.ymin, box.ymax) };
  const photo = { width: grid.columns.size, height: grid.rows.size };
  const limit = Math.log(threshold / (1 - threshold));
  return pixelsAbove({ data: sum, channels: 1, width, height, layout: 'NCHW' }, inBox, limit, photo);
}

/**
 * Returns the pixels of a photo where the map of a box, stretched over it, is above a threshold; undefined if there are
 * none.
 * @see https://github.com/pytorch/vision/blob/main/torchvision/models/detection/roi_heads.py `paste_masks_in_image`
 * @param map probabilities
 * @param box in pixels of the photo
 */
export function pastedMask(
  { data, width, height }: Pick<Maps, 'data' | 'width' | 'height'>,
  box: Box,
  photo: Size,
  threshold: Threshold,
): BoxedMask | undefined {
  const padded = new Float32Array((width + 2) * (height + 2));
  for (let y = 0; y < height; y++) padded.set(data.subarray(y * width, (y + 1) * width), (y + 1) * (width + 2) + 1);
  const [columns, left] = stretched(width, box.xmin, box.xmax, photo.width);
  const [rows, top] = stretched(height, box.ymin, box.ymax, photo.height);
  const map: Maps = { data: padded, channels: 1, width: width + 2, height: height + 2, layout: 'NCHW' };
  return pixelsAbove(map, { columns, rows }, threshold, photo, left, top);
}

/** Returns the pixels of a photo where a map of it is above a threshold; undefined if there are none. */
export function mapMask(
  map: Pick<Maps, 'data' | 'width' | 'height'>,
  grid: Grid,
  threshold: Threshold,
): BoxedMask | undefined {
  const photo = { width: grid.columns.size, height: grid.rows.size };
  return pixelsAbove({ ...map, channels: 1, layout: 'NCHW' }, grid, threshold, photo);
}

/** @param left where the grid's first column lies in the photo @param top the same of its first row */
function pixelsAbove(map: Maps, grid: Grid, limit: number, photo: Size, left = 0, top = 0): BoxedMask | undefined {
  const pixels = new MaskPixels(photo.width, photo.height);
  const { first, end } = grid.columns;
  eachRow(map, grid, (values, y) => {
    for (let x = first; x < end; x++) if (values[x]! > limit) pixels.add(x + left, y + top);
  });
  return pixels.collected();
}

/** Returns an axis that samples only the pixels from a box's low side to its high side. */
function within(axis: Axis, low: number, high: number): Axis {
  const first = Math.max(axis.first, Math.ceil(low));
  return { ...axis, first, end: Math.max(first, Math.min(axis.end, Math.ceil(high))) };
}

/**
 * Returns the axis that stretches a map, with one pixel of zeros at each end, over a side of its box, and the photo's
 * pixel at which it begins. It samples only the pixels that are in the photo.
 * @param size the map's, without the zeros
 */
function stretched(size: number, low: number, high: number, photo: number): readonly [axis: Axis, from: number] {
  const half = ((high - low) / 2) * ((size + 2) / size);
  const center = (high + low) / 2;
  const [from, to] = [Math.trunc(center - half), Math.trunc(center + half)];
  const full = axis(to - from + 1, size + 2);
  const first = Math.max(0, -from);
  return [{ ...full, first, end: Math.max(first, Math.min(full.size, photo - from)) }, from];
}

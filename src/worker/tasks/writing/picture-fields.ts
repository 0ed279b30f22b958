/** What image processors have in common: the fields of `preprocessor_config.json`, and pixels as Pillow makes them. */
import type { DecodedImage, Pixels } from '../../../contract/images.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Json } from '../../../shared/hugging-face.js';
import { isRecord } from '../../../shared/schema.js';
import {
  compileTransforms,
  compose,
  layout,
  normalize,
  resize,
  toTensor,
  type CompiledTransforms,
  type Interpolation,
  type TransformStep,
} from '../../transforms/index.js';

const FILE = 'preprocessor_config.json';
/** The largest whole number of a field: the pixels of 16,384 tokens of Qwen3-VL. */
const MAX_WHOLE = 16_384 * 32 * 32;
/** The largest side of a model's pictures, whatever the files say. */
const MAX_SIDE = 4096;
/** Pillow's numbers. */
const INTERPOLATIONS: readonly Interpolation[] = ['nearest', 'lanczos', 'bilinear', 'bicubic', 'box', 'hamming'];

/** Returns how pixels become numbers, channel by channel. @throws `model-config` for a field of the wrong type */
export function numbersOf(images: Json, mean: Channels = HALF, std: Channels = HALF): CompiledTransforms {
  return compileTransforms(compose(...numberSteps(images, mean, std)));
}

/** Returns the steps by which pixels become numbers. @throws `model-config` for a field of the wrong type */
export function numberSteps(images: Json, mean: Channels = HALF, std: Channels = HALF): readonly TransformStep[] {
  return [
    images['do_rescale'] === false ? toTensor({ scale: 1 }) : toTensor({ scale: scaleOf(images) }),
    ...(images['do_normalize'] === false
      ? []
      : [normalize(channels(images, 'image_mean', mean), channels(images, 'image_std', std))]),
  ];
}

/** Returns height and width: a number is both. @throws `model-config` for another field */
export function sidesOf(images: Json, key: 'size' | 'crop_size', otherwise: number): PictureSize {
  const given = images[key] ?? otherwise;
  const { height, width } = isRecord(given) ? given : { height: given, width: given };
  const sides = [height, width] as const;
  if (sides.every((side) => Number.isInteger(side) && (side as number) > 0 && (side as number) <= MAX_SIDE))
    return sides as PictureSize;
  throw wrongField(key, `{ height, width } of 1 to ${MAX_SIDE} pixels`, given);
}

/** @throws `model-config` for a number that is not Pillow's */
export function interpolationOf({ resample }: Json, otherwise = 1): Interpolation {
  const found = INTERPOLATIONS[(resample ?? otherwise) as number];
  if (found) return found;
  throw wrongField('resample', "one of Pillow's numbers, 0 to 5", resample);
}

/** Resizes a picture one size after the other; each time, its pixels are bytes again. */
export async function resizePixels(
  image: DecodedImage | Pixels,
  sizes: readonly (readonly [number, number])[],
  interpolation: Interpolation,
): Promise<Pixels> {
  const [height, width] = sizes.at(-1)!;
  const steps = sizes.map((size) => resize(size, { interpolation }));
  const { data } = await compileTransforms(compose(...steps, toTensor({ scale: 1 }), layout('NHWC'))).run(image);
  return { format: 'RGB', width, height, stride: width * 3, data: Uint8Array.from(data) };
}

type Channels = readonly [number, number, number];
const HALF: Channels = [0.5, 0.5, 0.5];
/** CLIP's. */
export const [CLIP_MEAN, CLIP_STD]: readonly [mean: Channels, std: Channels] = [
  [0.48145466, 0.4578275, 0.40821073],
  [0.26862954, 0.26130258, 0.27577711],
];

function scaleOf(images: Json): number {
  const scale = images['rescale_factor'] ?? 1 / 255;
  if (typeof scale === 'number') return scale;
  throw wrongField('rescale_factor', 'a number', scale);
}

function channels(images: Json, key: 'image_mean' | 'image_std', otherwise: Channels): readonly number[] {
  const given = images[key] ?? otherwise;
  const list = typeof given === 'number' ? [given, given, given] : given;
  if (Array.isArray(list) && list.length === 3 && list.every((one) => typeof one === 'number')) return list;
  throw wrongField(key, 'three numbers', given);
}

/** Returns the error for a field that is not what it must be. */
export function wrongField(key: string, expected: string, value: unknown): TabServeError {
  return new TabServeError('model-config', `${FILE}: ${key}: expected ${expected}, got ${JSON.stringify(value)}.`);
}

/** Returns the numbers of pixels, channel by channel. */
export async function valuesOf(pixels: Pixels, numbers: CompiledTransforms): Promise<Float32Array> {
  const data = new Float32Array(3 * pixels.width * pixels.height);
  await numbers.run(pixels, data, 0);
  return data;
}

/** Returns the patches of a picture, row by row: of each, the rows, the columns, the channels, as Siglip 2 has them. */
export function patchesOf(
  values: Float32Array,
  { width, height }: Pick<Pixels, 'width' | 'height'>,
  patch: number,
): Float32Array {
  const found = new Float32Array(values.length);
  let at = 0;
  for (let top = 0; top < height; top += patch)
    for (let left = 0; left < width; left += patch)
      for (let y = top; y < top + patch; y++)
        for (let x = left; x < left + patch; x++)
          for (let channel = 0; channel < 3; channel++) found[at++] = values[(channel * height + y) * width + x]!;
  return found;
}

/** Returns a field that is a whole number from 1 on. @throws `model-config` for another one */
export function wholeOf(images: Json, key: string, otherwise: number, most = MAX_WHOLE): number {
  const value = images[key] ?? otherwise;
  if (Number.isInteger(value) && (value as number) > 0 && (value as number) <= most) return value as number;
  throw wrongField(key, `a whole number from 1 to ${most}`, value);
}

/** How many pixels a picture may have, and of what its sides are multiples. */
export interface SizeLimits {
  readonly side: number;
  readonly least: number;
  readonly most: number;
}

/**
 * Returns the size that a picture is given: its shape, nearly, and a number of pixels within limits. Both are those of
 * transformers' `smart_resize`.
 * @param smallest the smallest height and width that the picture is rounded to at first
 */
export function smartSize(
  [height, width]: PictureSize,
  { side, least, most }: SizeLimits,
  smallest: number,
): PictureSize {
  const [nearHeight, nearWidth] = [height, width].map((size) => Math.max(smallest, nearest(size, side))) as [
    number,
    number,
  ];
  const pixels = nearHeight * nearWidth;
  if (pixels > most) {
    const scale = Math.sqrt((height * width) / most);
    const down = (size: number): number => Math.max(side, Math.floor(size / scale / side) * side);
    return [down(height), down(width)];
  }
  if (pixels >= least) return [nearHeight, nearWidth];
  const scale = Math.sqrt(least / (height * width));
  const up = (size: number): number => Math.ceil((size * scale) / side) * side;
  return [up(height), up(width)];
}

/** In pixels. */
export type PictureSize = readonly [height: number, width: number];

/** Returns the nearest multiple of a number, as Python rounds: from the middle to the even one. */
export function nearest(value: number, side: number): number {
  const [whole, rest] = [Math.floor(value / side), (value / side) % 1];
  return (rest === 0.5 ? whole + (whole % 2) : Math.round(value / side)) * side;
}

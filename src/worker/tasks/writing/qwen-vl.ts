/**
 * Pictures as Qwen2-VL, 2.5-VL, 3-VL and Qwen3.5 read them: patches of a grid that keeps the picture's shape. Pixels and
 * texts are those of transformers' processors with Pillow (`Qwen2VLImageProcessor`, `smart_resize`).
 */
import { invalidInput } from '../../../contract/errors.js';
import type { Pixels } from '../../../contract/images.js';
import type { Json } from '../../../shared/hugging-face.js';
import { isRecord } from '../../../shared/schema.js';
import { integers } from '../../tensors/tensors.js';
import {
  CLIP_MEAN,
  CLIP_STD,
  interpolationOf,
  numbersOf,
  resizePixels,
  smartSize,
  valuesOf,
  wholeOf,
  wrongField,
  type PictureSize,
} from './picture-fields.js';
import type { PictureReader } from './picture-reader.js';

const BICUBIC = 3;
/** The longer side is at most this many times the shorter one. */
const MAX_ASPECT = 200;
/** Sizes of patches are at most this, whatever the files say. */
const MAX_PATCH = 64;

/** Sizes in pixels, but for `frames`: how often a picture is repeated, as a film of no motion. */
export interface Sizes {
  readonly patch: number;
  /** This many patches, in both directions, are one token. */
  readonly merge: number;
  readonly frames: number;
  readonly least: number;
  readonly most: number;
}

/** What differs between families of models. */
interface Family {
  /** The text that the chat template writes for a picture, the token of which each becomes a vector. */
  readonly token: string;
  /** The processor's defaults. */
  readonly least: number;
  readonly most: number;
  /** Returns the size that a picture is given. @throws `invalid-input` for a picture that is too narrow */
  readonly fit: (size: PictureSize, sizes: Sizes) => PictureSize;
}

/**
 * @param images the fields of `preprocessor_config.json`
 * @throws `model-config` for a field of the wrong type
 */
export function qwenReader(images: Json): PictureReader {
  return patchesReader(images, { token: '<|image_pad|>', least: 56 * 56, most: 28 * 28 * 1280, fit: fitPatches });
}

/** @throws `model-config` for a field of the wrong type */
export function patchesReader(images: Json, family: Family): PictureReader {
  const sizes = sizesOf(images, family);
  const { patch, merge, frames } = sizes;
  const { token, fit } = family;
  const interpolation = interpolationOf(images, BICUBIC);
  const numbers = numbersOf(images, CLIP_MEAN, CLIP_STD);
  return {
    placeholder: token,
    inputs: ['pixel_values', 'image_grid_thw', 'grid_thw'],
    async read(image) {
      const [height, width] =
        images['do_resize'] === false ? [image.height, image.width] : fit([image.height, image.width], sizes);
      if (height % (patch * merge) !== 0 || width % (patch * merge) !== 0)
        throw invalidInput(
          `A picture of ${width} × ${height} pixels is not divisible by ${patch * merge}, and do_resize of preprocessor_config.json is false.`,
        );
      const pixels = await resizePixels(image, [[height, width]], interpolation);
      const [rows, columns] = [height / patch, width / patch];
      const grid = { rows: rows / merge, columns: columns / merge };
      const thw = integers('int64', [1, 3], [1, rows, columns]);
      const count = grid.rows * grid.columns;
      return {
        text: token.repeat(count),
        count,
        grid,
        feeds: {
          pixel_values: {
            dtype: 'float32',
            dims: [rows * columns, 3 * frames * patch * patch],
            data: patchesOf(await valuesOf(pixels, numbers), pixels, sizes),
          },
          image_grid_thw: thw,
          grid_thw: thw,
        },
      };
    },
  };
}

/** Returns the size of whole tokens. @throws `invalid-input` for a picture that is too narrow */
export function fitPatches([height, width]: PictureSize, { patch, merge, least, most }: Sizes): PictureSize {
  if (Math.max(height, width) / Math.min(height, width) > MAX_ASPECT)
    throw invalidInput(
      `A picture of ${width} × ${height} pixels is too narrow for this model: one side is at most ${MAX_ASPECT} times the other. Crop it.`,
    );
  return smartSize([height, width], { side: patch * merge, least, most }, 0);
}

/** Returns the patches in the order of the tokens, those of one token after each other: channels, frames, rows, columns. */
function patchesOf(values: Float32Array, { width, height }: Pixels, { patch, merge, frames }: Sizes): Float32Array {
  const found = new Float32Array(frames * values.length);
  const side = patch * merge;
  let at = 0;
  for (let top = 0; top < height; top += side)
    for (let left = 0; left < width; left += side)
      for (let inner = 0; inner < merge * merge; inner++) {
        const [y, x] = [top + Math.floor(inner / merge) * patch, left + (inner % merge) * patch];
        for (let channel = 0; channel < 3; channel++)
          for (let frame = 0; frame < frames; frame++)
            for (let row = 0; row < patch; row++) {
              const from = (channel * height + y + row) * width + x;
              found.set(values.subarray(from, from + patch), at);
              at += patch;
            }
      }
  return found;
}

function sizesOf(images: Json, family: Family): Sizes {
  const size = images['size'] ?? {};
  if (!isRecord(size)) throw wrongField('size', '{ shortest_edge, longest_edge }', size);
  const least = wholeOf(images, 'min_pixels', (size['shortest_edge'] ?? family.least) as number);
  const most = wholeOf(images, 'max_pixels', (size['longest_edge'] ?? family.most) as number);
  if (least > most) throw wrongField('min_pixels', `at most max_pixels, ${most}`, least);
  return {
    patch: wholeOf(images, 'patch_size', 14, MAX_PATCH),
    merge: wholeOf(images, 'merge_size', 2, MAX_PATCH),
    frames: wholeOf(images, 'temporal_patch_size', 2, MAX_PATCH),
    least,
    most,
  };
}

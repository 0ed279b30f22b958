/**
 * Pictures as Qwen2-VL, 2.5-VL and 3-VL read them: patches of a grid that keeps the picture's shape. Pixels and texts are
 * those of transformers' processors with Pillow (`Qwen2VLImageProcessor`, `smart_resize`).
 */
import { invalidInput } from '../../../contract/errors.js';
import type { Pixels } from '../../../contract/images.js';
import type { Json } from '../../../shared/hugging-face.js';
import { isRecord } from '../../../shared/schema.js';
import { integers } from '../../tensors/tensors.js';
import { interpolationOf, numbersOf, resizePixels, wrongField } from './picture-fields.js';
import type { PictureReader } from './picture-reader.js';

const IMAGE = '<|image_pad|>';
/** CLIP's, which are the processor's defaults. */
const [MEAN, STD] = [
  [0.48145466, 0.4578275, 0.40821073],
  [0.26862954, 0.26130258, 0.27577711],
] as const;
const BICUBIC = 3;
/** The longer side is at most so many times the shorter one. */
const MAX_ASPECT = 200;
/** The largest number of pixels, whatever the files say: those of 16,384 tokens of Qwen3-VL. */
const MAX_PIXELS = 16_384 * 32 * 32;

/** Sizes in pixels, but for `frames`: how often a picture is repeated, as a film of no motion. */
interface Sizes {
  readonly patch: number;
  /** So many patches, in both directions, are one token. */
  readonly merge: number;
  readonly frames: number;
  readonly least: number;
  readonly most: number;
}

/**
 * @param images the fields of `preprocessor_config.json`
 * @throws `model-config` for a field of the wrong type
 */
export function qwenReader(images: Json): PictureReader {
  const sizes = sizesOf(images);
  const { patch, merge, frames } = sizes;
  const interpolation = interpolationOf(images, BICUBIC);
  const numbers = numbersOf(images, MEAN, STD);
  return {
    placeholder: IMAGE,
    inputs: ['pixel_values', 'image_grid_thw', 'grid_thw'],
    async read(image) {
      const [height, width] =
        images['do_resize'] === false ? [image.height, image.width] : fit(image.height, image.width, sizes);
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
        text: IMAGE.repeat(count),
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

async function valuesOf(pixels: Pixels, numbers: ReturnType<typeof numbersOf>): Promise<Float32Array> {
  const data = new Float32Array(3 * pixels.width * pixels.height);
  await numbers.run(pixels, data, 0);
  return data;
}

/** Returns the size that a picture is given: its shape, nearly, and a number of pixels within both limits. */
function fit(height: number, width: number, { patch, merge, least, most }: Sizes): readonly [number, number] {
  if (Math.max(height, width) / Math.min(height, width) > MAX_ASPECT)
    throw invalidInput(
      `A picture of ${width} × ${height} pixels is too narrow for this model: one side is at most ${MAX_ASPECT} times the other. Crop it.`,
    );
  const side = patch * merge;
  const nearest = [height, width].map((size) => halfToEven(size / side) * side) as [number, number];
  const pixels = nearest[0] * nearest[1];
  if (pixels > most) {
    const scale = Math.sqrt((height * width) / most);
    return [Math.max(side, down(height / scale, side)), Math.max(side, down(width / scale, side))];
  }
  if (pixels >= least) return nearest;
  const scale = Math.sqrt(least / (height * width));
  return [up(height * scale, side), up(width * scale, side)];
}

const down = (size: number, side: number): number => Math.floor(size / side) * side;
const up = (size: number, side: number): number => Math.ceil(size / side) * side;

/** Rounds as Python does: a half to the even number. */
function halfToEven(value: number): number {
  const whole = Math.floor(value);
  return value - whole === 0.5 ? whole + (whole % 2) : Math.round(value);
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

function sizesOf(images: Json): Sizes {
  const size = images['size'] ?? {};
  if (!isRecord(size)) throw wrongField('size', '{ shortest_edge, longest_edge }', size);
  const least = whole('min_pixels', images['min_pixels'] ?? size['shortest_edge'] ?? 56 * 56);
  const most = whole('max_pixels', images['max_pixels'] ?? size['longest_edge'] ?? 28 * 28 * 1280);
  if (least > most) throw wrongField('min_pixels', `at most max_pixels, ${most}`, least);
  return {
    patch: whole('patch_size', images['patch_size'] ?? 14),
    merge: whole('merge_size', images['merge_size'] ?? 2),
    frames: whole('temporal_patch_size', images['temporal_patch_size'] ?? 2),
    least,
    most,
  };
}

function whole(key: string, value: unknown): number {
  if (Number.isInteger(value) && (value as number) > 0 && (value as number) <= MAX_PIXELS) return value as number;
  throw wrongField(key, `a whole number from 1 to ${MAX_PIXELS}`, value);
}

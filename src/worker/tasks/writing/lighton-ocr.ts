/**
 * Pages as LightOnOCR reads them: whole patches, in the shape of the picture. Pixels and texts are those of transformers'
 * processors with Pillow (`PixtralImageProcessor`, `LightOnOcrProcessor`).
 */
import { invalidInput } from '../../../contract/errors.js';
import type { Json } from '../../../shared/hugging-face.js';
import { isRecord } from '../../../shared/schema.js';
import {
  CLIP_MEAN,
  CLIP_STD,
  interpolationOf,
  numbersOf,
  resizePixels,
  sidesOf,
  valuesOf,
  wholeOf,
  wrongField,
  type PictureSize,
} from './picture-fields.js';
import type { PictureReader } from './picture-reader.js';

const BICUBIC = 3;
/** The largest side of a patch, whatever the files say. */
const MAX_PATCH = 64;

/**
 * @param images the fields of `preprocessor_config.json`
 * @param processor those of `processor_config.json`
 * @throws `model-config` for a field of the wrong type
 */
export function lightOnReader(images: Json, processor: Json): PictureReader {
  const interpolation = interpolationOf(images, BICUBIC);
  const numbers = numbersOf(images, CLIP_MEAN, CLIP_STD);
  const largest = largestOf(images);
  // Of a token.
  const side = wholeOf(processor, 'patch_size', 14, MAX_PATCH) * wholeOf(processor, 'spatial_merge_size', 2, MAX_PATCH);
  const step = patchOf(images) * wholeOf(images, 'spatial_merge_size', 1, MAX_PATCH);
  const token = tokenOf(processor, 'image_token', '<|image_pad|>');
  return {
    placeholder: token,
    inputs: ['pixel_values'],
    async read(image) {
      const size: PictureSize = [image.height, image.width];
      const [height, width] = images['do_resize'] === false ? size : fit(size, largest, step);
      const [rows, columns] = [Math.floor(height / side), Math.floor(width / side)];
      if (rows * columns === 0)
        throw invalidInput(
          `A picture of ${image.width} × ${image.height} pixels is too small for this model: it has no token of ${side} × ${side} pixels. Enlarge it.`,
        );
      const pixels = await resizePixels(image, [[height, width]], interpolation);
      return {
        text: token.repeat(rows * columns),
        count: rows * columns,
        feeds: {
          pixel_values: { dtype: 'float32', dims: [1, 3, height, width], data: await valuesOf(pixels, numbers) },
        },
      };
    },
  };
}

/** Returns the size of a picture that is reduced to a limit, if it has to be, and then fills whole steps. */
function fit([height, width]: PictureSize, [mostHeight, mostWidth]: PictureSize, step: number): PictureSize {
  const ratio = Math.max(1, height / mostHeight, width / mostWidth);
  const up = (size: number): number => Math.ceil(Math.floor(size / ratio) / step) * step;
  return [up(height), up(width)];
}

function largestOf(images: Json): PictureSize {
  const { size = {} } = images;
  if (!isRecord(size) || size['height'] !== undefined) return sidesOf(images, 'size', 1024);
  const edge = wholeOf({ size: size['longest_edge'] }, 'size', 1024, 16_384);
  return [edge, edge];
}

/** Returns the side of a patch, which is a number, or both sides. */
function patchOf(images: Json): number {
  const { patch_size: patch = 16 } = images;
  const [height, width] = isRecord(patch) ? [patch['height'], patch['width']] : [patch, patch];
  if (height === width) return wholeOf({ patch_size: height }, 'patch_size', 16, MAX_PATCH);
  throw wrongField('patch_size', 'the same height and width', patch);
}

function tokenOf(processor: Json, key: string, otherwise: string): string {
  const token = processor[key] ?? otherwise;
  if (typeof token === 'string' && token !== '') return token;
  throw wrongField(key, 'a token', token);
}

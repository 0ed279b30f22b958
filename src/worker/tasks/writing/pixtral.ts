/**
 * Pictures as LightOnOCR and Mistral 3 read them: whole patches, in the shape of the picture. Pixels and texts are those of
 * transformers' processors with Pillow (`PixtralImageProcessor`, `LightOnOcrProcessor`, `PixtralProcessor`).
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

/** What differs between families of models. */
interface Family {
  /** The side of a token in pixels. */
  readonly side: number;
  /** The sides of a picture are multiples of it. */
  readonly step: number;
  /** Each becomes a vector. */
  readonly token: string;
  /** Returns the text of a row of tokens. */
  readonly line: (row: string, isLast: boolean) => string;
}

/**
 * @param images the fields of `preprocessor_config.json`
 * @param processor those of `processor_config.json`
 * @throws `model-config` for a field of the wrong type
 */
export function lightOnReader(images: Json, processor: Json): PictureReader {
  return pixtralReader(images, {
    side: sideOf(processor, 14, 2),
    step: patchOf(images) * wholeOf(images, 'spatial_merge_size', 1, MAX_PATCH),
    token: tokenOf(processor, 'image_token', '<|image_pad|>'),
    line: (row) => row,
  });
}

/** Returns the reader of Mistral 3: each row of tokens has an end. @throws `model-config` for a field of the wrong type */
export function mistral3Reader(images: Json, processor: Json): PictureReader {
  const side = sideOf(processor, 16, 1);
  const [between, end] = [
    tokenOf(processor, 'image_break_token', '[IMG_BREAK]'),
    tokenOf(processor, 'image_end_token', '[IMG_END]'),
  ];
  return pixtralReader(images, {
    side,
    step: side,
    token: tokenOf(processor, 'image_token', '[IMG]'),
    line: (row, isLast) => row + (isLast ? end : between),
  });
}

function pixtralReader(images: Json, { side, step, token, line }: Family): PictureReader {
  const interpolation = interpolationOf(images, BICUBIC);
  const numbers = numbersOf(images, CLIP_MEAN, CLIP_STD);
  const largest = largestOf(images);
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
        text: Array.from({ length: rows }, (_, row) => line(token.repeat(columns), row === rows - 1)).join(''),
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

/** Returns the side of a token. @param patch, merge the processor's defaults */
function sideOf(processor: Json, patch: number, merge: number): number {
  return (
    wholeOf(processor, 'patch_size', patch, MAX_PATCH) * wholeOf(processor, 'spatial_merge_size', merge, MAX_PATCH)
  );
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

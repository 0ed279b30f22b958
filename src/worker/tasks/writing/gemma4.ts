/**
 * Pictures as Gemma 4 reads them: a picture keeps its shape, and becomes as many patches as fit. Pixels and texts are those of
 * transformers' Gemma4Processor with Pillow.
 */
import type { Json } from '../../../shared/hugging-face.js';
import { integers } from '../../tensors/tensors.js';
import {
  interpolationOf,
  numbersOf,
  patchesOf,
  resizePixels,
  valuesOf,
  wholeOf,
  type PictureSize,
} from './picture-fields.js';
import type { PictureReader } from './picture-reader.js';

const [BEGIN, SOFT, END] = ['<|image>', '<|image|>', '<image|>'] as const;
const BICUBIC = 3;
/** Whatever the files say. */
const [MAX_PATCH, MAX_POOL, MAX_TOKENS] = [64, 8, 1120] as const;

/**
 * @param images the fields of the image processor
 * @throws `model-config` for a field of the wrong type
 */
export function gemma4Reader(images: Json): PictureReader {
  const patch = wholeOf(images, 'patch_size', 16, MAX_PATCH);
  /** So many patches, in both directions, are one token. */
  const pool = wholeOf(images, 'pooling_kernel_size', 3, MAX_POOL);
  const tokens = wholeOf(images, 'max_soft_tokens', 280, MAX_TOKENS);
  const interpolation = interpolationOf(images, BICUBIC);
  // Pixels are 0 to 1: the encoder itself moves them to -1 to 1.
  const numbers = numbersOf({ do_normalize: false, ...images }, [0, 0, 0], [1, 1, 1]);
  const most = tokens * pool * pool;
  const values = 3 * patch * patch;
  return {
    placeholder: SOFT,
    inputs: ['pixel_values', 'pixel_position_ids'],
    async read(image) {
      const [height, width] = sizeOf([image.height, image.width], pool * patch, tokens);
      const pixels = await resizePixels(image, [[height, width]], interpolation);
      const data = new Float32Array(most * values);
      data.set(patchesOf(await valuesOf(pixels, numbers), pixels, patch));
      const [rows, columns] = [height / patch, width / patch];
      const positions = Array.from({ length: most }, (_, at) =>
        at < rows * columns ? [at % columns, Math.floor(at / columns)] : [-1, -1],
      );
      const count = (rows * columns) / (pool * pool);
      return {
        text: BEGIN + SOFT.repeat(count) + END,
        count,
        feeds: {
          pixel_values: { dtype: 'float32', dims: [1, most, values], data },
          pixel_position_ids: integers('int64', [1, most, 2], positions.flat()),
        },
      };
    },
  };
}

/**
 * Returns the largest size that keeps a picture's shape, nearly, and has no more tokens: that of transformers'
 * `get_aspect_ratio_preserving_size`.
 * @param side of a token in pixels
 */
function sizeOf([height, width]: PictureSize, side: number, tokens: number): PictureSize {
  const scale = Math.sqrt((tokens * side * side) / (height * width));
  const [rows, columns] = [Math.floor((scale * height) / side), Math.floor((scale * width) / side)];
  if (rows === 0) return [side, Math.min(Math.floor(width / height), tokens) * side];
  if (columns === 0) return [Math.min(Math.floor(height / width), tokens) * side, side];
  return [rows * side, columns * side];
}

/**
 * Pictures as GLM-OCR reads them: Qwen2-VL's patches, of other sizes. Pixels and texts are those of transformers' processor
 * with Pillow (`Glm46VImageProcessor`).
 */
import type { Json } from '../../../shared/hugging-face.js';
import type { PictureSize } from './picture-fields.js';
import type { PictureReader } from './picture-reader.js';
import { fitPatches, patchesReader } from './qwen-vl.js';

/**
 * @param images the fields of `preprocessor_config.json`
 * @throws `model-config` for a field of the wrong type
 */
export function glmReader(images: Json): PictureReader {
  return patchesReader(images, {
    token: '<|image|>',
    least: 112 * 112,
    most: 28 * 28 * 15_000,
    fit(size, sizes) {
      const { patch, merge, frames, least, most } = sizes;
      // Its limits count the pixels of all frames.
      return fitPatches(enlarge(size, patch * merge), { ...sizes, least: least / frames, most: most / frames });
    },
  });
}

/** Returns the size of a picture of which no side is shorter than a token's. */
function enlarge([height, width]: PictureSize, side: number): PictureSize {
  if (height >= side && width >= side) return [height, width];
  const scale = Math.max(side / height, side / width);
  return [Math.trunc(height * scale), Math.trunc(width * scale)];
}

/**
 * Pictures as Gemma 3 reads them: a square of one size, and with pan and scan some crops of a long picture beside it.
 * Pixels and texts are those of transformers' Gemma3Processor with Pillow (`pan_and_scan`).
 */
import type { DecodedImage, Rect } from '../../../contract/images.js';
import type { Json } from '../../../shared/hugging-face.js';
import { interpolationOf, numbersOf, resizePixels, sidesOf, valuesOf, wholeOf, wrongField } from './picture-fields.js';
import type { PictureReader } from './picture-reader.js';

const [BEGIN, SOFT, END] = ['<start_of_image>', '<image_soft_token>', '<end_of_image>'] as const;
const BILINEAR = 2;
const SIDE = 224;
/** The maximum number of crops, whatever the files say. */
const MAX_CROPS = 64;

/**
 * @param images the fields of `preprocessor_config.json`
 * @param tokens of a picture, and of each crop: `image_seq_length` of `processor_config.json`
 * @throws `model-config` for a field of the wrong type
 */
export function gemma3Reader(images: Json, tokens: number): PictureReader {
  const [height, width] = sidesOf(images, 'size', SIDE);
  const interpolation = interpolationOf(images, BILINEAR);
  const numbers = numbersOf(images);
  const cropsOf = images['do_pan_and_scan'] === true ? panAndScan(images) : () => [];
  const one = `\n\n${BEGIN}${SOFT.repeat(tokens)}${END}\n\n`;
  return {
    placeholder: BEGIN,
    token: SOFT,
    inputs: ['pixel_values'],
    async read(image) {
      const crops = cropsOf(image);
      const size = 3 * height * width;
      const data = new Float32Array((crops.length + 1) * size);
      for (const [index, crop] of [undefined, ...crops].entries()) {
        const part = crop ? await image.read(crop) : image;
        data.set(await valuesOf(await resizePixels(part, [[height, width]], interpolation), numbers), index * size);
      }
      return {
        text:
          crops.length === 0
            ? one
            : `Here is the original image ${one} and here are some crops to help you see better ${crops.map(() => one).join(' ')}`,
        count: (crops.length + 1) * tokens,
        feeds: { pixel_values: { dtype: 'float32', dims: [crops.length + 1, 3, height, width], data } },
      };
    },
  };
}

/** Returns the function that divides a long picture into crops side by side. */
function panAndScan(images: Json): (image: Pick<DecodedImage, 'width' | 'height'>) => readonly Rect[] {
  const least = wholeOf(images, 'pan_and_scan_min_crop_size', 256);
  const most = wholeOf(images, 'pan_and_scan_max_num_crops', 4, MAX_CROPS);
  const ratio = images['pan_and_scan_min_ratio_to_activate'] ?? 1.2;
  if (typeof ratio !== 'number') throw wrongField('pan_and_scan_min_ratio_to_activate', 'a number', ratio);
  return ({ width, height }) => {
    const isWide = width >= height;
    const [longer, shorter] = isWide ? [width, height] : [height, width];
    if (longer / shorter < ratio) return [];
    const fitting = Math.min(Math.floor(longer / least), Math.floor(longer / shorter + 0.5));
    const count = Math.min(most, Math.max(2, fitting));
    const side = Math.ceil(longer / count);
    if (Math.min(side, shorter) < least) return [];
    return Array.from({ length: count }, (_, index) => {
      const [start, length] = [side * index, Math.min(side, longer - side * index)];
      return isWide ? { x: start, y: 0, width: length, height } : { x: 0, y: start, width, height: length };
    });
  };
}

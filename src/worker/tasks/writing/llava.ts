/**
 * Pictures as Llava and FastVLM read them: in one size, by the processor of its encoder, CLIP or SigLIP. Pixels and texts are those of
 * transformers' LlavaProcessor with Pillow.
 */
import { invalidInput } from '../../../contract/errors.js';
import type { Json } from '../../../shared/hugging-face.js';
import { isRecord } from '../../../shared/schema.js';
import { centerCrop, compileTransforms, compose, resize } from '../../transforms/index.js';
import { CLIP_MEAN, CLIP_STD, interpolationOf, numberSteps, sidesOf, wholeOf } from './picture-fields.js';
import type { PictureReader } from './picture-reader.js';

const IMAGE = '<image>';
const BICUBIC = 3;
const SIDE = 224;

/**
 * @param images the fields of `preprocessor_config.json`
 * @param processor those of `processor_config.json`
 * @param isClip whether the encoder is CLIP's, whose pictures are cropped, and not SigLIP's
 * @throws `model-config` for a field of the wrong type
 */
export function llavaReader(images: Json, processor: Json, isClip: boolean): PictureReader {
  const interpolation = interpolationOf(images, BICUBIC);
  const isCropped = images['do_center_crop'] ?? isClip;
  const transforms = compileTransforms(
    compose(
      resize(isClip ? shortestOf(images) : sidesOf(images, 'size', SIDE), { interpolation }),
      ...(isCropped ? [centerCrop(sidesOf(images, 'crop_size', SIDE), { rounding: 'transformers' })] : []),
      ...(isClip ? numberSteps(images, CLIP_MEAN, CLIP_STD) : numberSteps(images)),
    ),
  );
  const patch = wholeOf(processor, 'patch_size', 14);
  const added = processor['num_additional_image_tokens'] ? wholeOf(processor, 'num_additional_image_tokens', 1) : 0;
  // The token of the whole picture, which CLIP's encoder has made, is left out.
  const more = added - (processor['vision_feature_select_strategy'] === 'default' ? 1 : 0);
  return {
    placeholder: IMAGE,
    inputs: ['pixel_values'],
    async read(image) {
      const { dims, data } = await transforms.run(image);
      const [channels, height, width] = dims as readonly [number, number, number];
      const count = Math.floor(height / patch) * Math.floor(width / patch) + more;
      if (count < 1)
        throw invalidInput(
          `A picture of ${image.width} × ${image.height} pixels has no patch of ${patch} × ${patch}: processor_config.json is another model's.`,
        );
      return {
        text: IMAGE.repeat(count),
        count,
        feeds: { pixel_values: { dtype: 'float32', dims: [1, channels, height, width], data } },
      };
    },
  };
}

/** Returns the length of the shorter side, or both sides. */
function shortestOf(images: Json): number | readonly [number, number] {
  const { size = SIDE } = images;
  if (isRecord(size) && size['shortest_edge'] === undefined) return sidesOf(images, 'size', SIDE);
  return wholeOf({ size: isRecord(size) ? size['shortest_edge'] : size }, 'size', SIDE);
}

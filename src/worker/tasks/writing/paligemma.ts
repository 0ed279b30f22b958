/**
 * Pictures as PaliGemma reads them: in one size, all of them before the text. Pixels and texts are those of transformers'
 * PaliGemmaProcessor with Pillow.
 */
import type { Json } from '../../../shared/hugging-face.js';
import { compileTransforms, compose, resize } from '../../transforms/index.js';
import { interpolationOf, numberSteps, sidesOf, wholeOf } from './picture-fields.js';
import type { PictureReader } from './picture-reader.js';

const IMAGE = '<image>';
const BICUBIC = 3;
const SIDE = 224;
const TOKENS = 256;
/** The most tokens of a picture, whatever the files say. */
const MAX_TOKENS = 16_384;

/** What the processor does in place of a chat template: the text begins after the last picture, and ends with a line. */
const TEMPLATE = [
  "{% if messages | length > 1 %}{{ raise_exception('PaliGemma answers one message, of the user, not a conversation.') }}{% endif %}",
  "{% set parts = messages[0]['content'] %}{% set last = namespace(at=-1) %}{% if parts is string %}{{ bos_token + parts }}{% else %}",
  "{% for part in parts %}{% if part['type'] == 'image' %}{% set last.at = loop.index0 %}{% endif %}{% endfor %}",
  '{% if last.at < 0 %}{{ bos_token }}{% endif %}',
  `{% for part in parts %}{% if part['type'] == 'image' %}{{ '${IMAGE}' }}{% else %}{{ part['text'] }}{% endif %}`,
  "{% if loop.index0 == last.at %}{{ bos_token }}{% endif %}{% endfor %}{% endif %}{{ '\\n' }}",
].join('');

/**
 * @param images the fields of `preprocessor_config.json`
 * @throws `model-config` for a field of the wrong type
 */
export function paliGemmaReader(images: Json): PictureReader {
  const interpolation = interpolationOf(images, BICUBIC);
  const transforms = compileTransforms(
    compose(resize(sidesOf(images, 'size', SIDE), { interpolation }), ...numberSteps(images)),
  );
  const count = wholeOf(images, 'image_seq_length', TOKENS, MAX_TOKENS);
  return {
    placeholder: IMAGE,
    template: TEMPLATE,
    inputs: ['pixel_values'],
    async read(image) {
      const { dims, data } = await transforms.run(image);
      return {
        text: IMAGE.repeat(count),
        count,
        feeds: { pixel_values: { dtype: 'float32', dims: [1, ...dims], data } },
      };
    },
  };
}

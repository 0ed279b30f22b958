/** Which reader a repository's model has for pictures. */
import type { Files } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { isRecord } from '../../../shared/schema.js';
import { gemma3Reader } from './gemma3.js';
import { gemma4Reader } from './gemma4.js';
import { glmReader } from './glm46v.js';
import { idefics3Reader } from './idefics3.js';
import { lfm2Reader } from './lfm2-vl.js';
import { llavaReader } from './llava.js';
import { paliGemmaReader } from './paligemma.js';
import type { PictureReader } from './picture-reader.js';
import { lightOnReader, mistral3Reader } from './pixtral.js';
import { qwenReader } from './qwen-vl.js';

export const [PREPROCESSOR, PROCESSOR] = ['preprocessor_config.json', 'processor_config.json'] as const;
/** Transformers' default, if the repository does not say how many tokens a tile has. */
const TOKENS_OF_TILE = 169;
/** The same for a picture of Gemma 3. */
const TOKENS_OF_PICTURE = 256;
/** The most tokens of a picture, whatever the files say. */
const MAX_TOKENS = 16_384;

/** Reads how the repository's model reads pictures. @throws `model-config`, `model-format` */
export async function readerOf(files: Files): Promise<PictureReader> {
  const [own, all] = await Promise.all(
    [PREPROCESSOR, PROCESSOR].map(async (file) => (files.has(file) ? await files.json(file) : {})),
  );
  // Transformers 5 writes one file, and reads it first: what was in the first is then a part of the second.
  const images = isRecord(all) ? (all['image_processor'] ?? own) : own;
  if (!isRecord(images) || !isRecord(all))
    throw new TabServeError('model-config', `${PREPROCESSOR} and ${PROCESSOR} must be mappings.`);
  const tokensOf = (key: string, otherwise: number): number => {
    const tokens = all[key] ?? otherwise;
    if (Number.isInteger(tokens) && (tokens as number) > 0 && (tokens as number) <= MAX_TOKENS) return tokens as number;
    throw new TabServeError(
      'model-config',
      `${PROCESSOR}: ${key} must be a number of tokens, at most ${MAX_TOKENS}, not ${JSON.stringify(tokens)}.`,
    );
  };
  const name = String(images['image_processor_type'] ?? '').replace(/ImageProcessor(Fast|Pil)?$/, '');
  const type = await modelTypeOf(files);
  // Others have these processors, too, with prompts of their own.
  if (name === 'Pixtral' && type === 'lighton_ocr') return lightOnReader(images, all);
  if (name === 'Pixtral' && type === 'mistral3') return mistral3Reader(images, all);
  if (name === 'Siglip' && type === 'paligemma') return paliGemmaReader(images);
  switch (name) {
    case 'Idefics3':
    case 'SmolVLM':
      return idefics3Reader(images, tokensOf('image_seq_len', TOKENS_OF_TILE));
    case 'Qwen2VL':
    // As the first repositories of Qwen2.5-VL name it.
    case 'Qwen2_5_VL':
      return qwenReader(images);
    case 'Glm46V':
      return glmReader(images);
    case 'Lfm2Vl':
      return lfm2Reader(images);
    case 'Gemma3':
      return gemma3Reader(images, tokensOf('image_seq_length', TOKENS_OF_PICTURE));
    case 'Gemma4':
      return gemma4Reader(images);
    case 'CLIP':
    case 'Siglip':
      return llavaReader(images, all, name === 'CLIP');
    default:
      throw new TabServeError(
        'model-config',
        `${PREPROCESSOR}: image_processor_type is ${JSON.stringify(images['image_processor_type'])}; those of Idefics3, SmolVLM, Qwen2VL, Glm46V, Lfm2Vl, Gemma3 and Gemma4 are known, of Llava, FastVLM and PaliGemma those of CLIP and Siglip, of LightOnOCR and Mistral 3 that of Pixtral. The handler text_generator runs its language model, for text only.`,
      );
  }
}

async function modelTypeOf(files: Files): Promise<unknown> {
  const config = files.has(HF_CONFIG) ? await files.json(HF_CONFIG) : undefined;
  return isRecord(config) ? config['model_type'] : undefined;
}

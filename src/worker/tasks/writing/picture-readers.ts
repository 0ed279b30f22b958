/** Which reader a repository's model has for pictures. */
import type { Files } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import { isRecord } from '../../../shared/schema.js';
import { idefics3Reader } from './idefics3.js';
import { lfm2Reader } from './lfm2-vl.js';
import type { PictureReader } from './picture-reader.js';
import { qwenReader } from './qwen-vl.js';

export const [PREPROCESSOR, PROCESSOR] = ['preprocessor_config.json', 'processor_config.json'] as const;
/** Transformers' default, if the repository does not say how many tokens a tile has. */
const TOKENS_OF_TILE = 169;

/** Reads how the repository's model reads pictures. @throws `model-config`, `model-format` */
export async function readerOf(files: Files): Promise<PictureReader> {
  const [images, all] = await Promise.all(
    [PREPROCESSOR, PROCESSOR].map(async (file) => (files.has(file) ? await files.json(file) : {})),
  );
  const tokens = isRecord(all) ? (all['image_seq_len'] ?? TOKENS_OF_TILE) : TOKENS_OF_TILE;
  if (!isRecord(images) || !Number.isInteger(tokens) || (tokens as number) < 1)
    throw new TabServeError(
      'model-config',
      `${PREPROCESSOR} must be a mapping, and image_seq_len of ${PROCESSOR} a number of tokens, not ${JSON.stringify(tokens)}.`,
    );
  const name = String(images['image_processor_type'] ?? '').replace(/ImageProcessor(Fast)?$/, '');
  switch (name) {
    case 'Idefics3':
    case 'SmolVLM':
      return idefics3Reader(images, tokens as number);
    case 'Qwen2VL':
    // As the first repositories of Qwen2.5-VL name it.
    case 'Qwen2_5_VL':
      return qwenReader(images);
    case 'Lfm2Vl':
      return lfm2Reader(images);
    default:
      throw new TabServeError(
        'model-config',
        `${PREPROCESSOR}: image_processor_type is ${JSON.stringify(images['image_processor_type'])}; those of Idefics3, SmolVLM, Qwen2VL and Lfm2Vl are known. The handler text_generator runs the model's half of texts.`,
      );
  }
}

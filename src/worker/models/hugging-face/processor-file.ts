/** The file that says how images, or sounds, become a model's input. */
import { MAX_METADATA_BYTES } from '../../../contract/limits.js';
import type { Json } from '../../../shared/hugging-face.js';
import { isRecord } from '../../../shared/schema.js';
import { readObject } from '../json.js';
import type { Source } from '../sources/source.js';

export const PREPROCESSOR = 'preprocessor_config.json';
/** The file in which transformers 5 stores the processors of a model with several kinds of inputs. */
const PROCESSOR = 'processor_config.json';

/**
 * Returns the fields of a processor: those of `preprocessor_config.json`, or of the part `image_processor` or
 * `feature_extractor` of `processor_config.json`.
 * @returns undefined if there is neither
 * @throws `model-format`, and what `read` throws
 */
export async function readProcessor(source: Source): Promise<Json | undefined> {
  const own = await source.read(PREPROCESSOR, undefined, MAX_METADATA_BYTES);
  if (own) return await readObject(own, PREPROCESSOR);
  const all = await source.read(PROCESSOR, undefined, MAX_METADATA_BYTES);
  const { image_processor: images, feature_extractor: sounds }: Json = all ? await readObject(all, PROCESSOR) : {};
  return [images, sounds].find(isRecord);
}

/** Returns whether there may be such a file. */
export async function hasProcessor(source: Source): Promise<boolean> {
  return (await source.has(PREPROCESSOR)) || (await source.has(PROCESSOR));
}

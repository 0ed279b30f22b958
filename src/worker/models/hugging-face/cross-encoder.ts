/** Rerankers of sentence-transformers: what a `CrossEncoder` saves. */
import { MAX_METADATA_BYTES } from '../../../contract/limits.js';
import { architectureOf, labelCountOf, underivable, type Json } from '../../../shared/hugging-face.js';
import { readObject } from '../json.js';
import type { Source } from '../sources/source.js';

const SETTINGS = 'config_sentence_transformers.json';

/**
 * Returns a repository's `config.json`. For a cross-encoder of sentence-transformers 5.7, which has its settings in a
 * file of its own, it gets the key that earlier versions wrote there.
 * @throws `model-config` if it puts a prompt before texts; `model-format`
 */
export async function withCrossEncoder(source: Source, config: Json): Promise<Json> {
  if (!architectureOf(config)?.endsWith('ForSequenceClassification') || labelCountOf(config) !== 1) return config;
  const file = await source.read(SETTINGS, undefined, MAX_METADATA_BYTES);
  const settings: Json = file ? await readObject(file, SETTINGS) : {};
  if (settings['model_type'] !== 'CrossEncoder') return config;
  const prompt = settings['default_prompt_name'];
  if (prompt)
    throw underivable(
      SETTINGS,
      'default_prompt_name',
      prompt,
      'null',
      'Set it to null, and put the prompt before each query.',
    );
  return { ...config, sentence_transformers: { activation_fn: settings['activation_fn'] } };
}

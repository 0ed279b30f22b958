import type { Json } from './json.js';

/** A length from which there is no limit: transformers writes 1e30 for none. */
const NO_LIMIT = 1e9;

/** Models whose positions begin after the number of the padding token, as RoBERTa's. */
const OFFSET_POSITIONS = new Set([
  'camembert',
  'longformer',
  'mpnet',
  'roberta',
  'xlm-roberta',
  'xlm-roberta-xl',
  'xmod',
  'data2vec-text',
]);

/**
 * Returns `handler.maxLength`, if the tokenizer's own config has no limit and the model has a number of positions.
 * @param config the parsed `config.json`
 * @param tokenizer the parsed `tokenizer_config.json`
 */
export function maxLengthOf(config: Json, tokenizer: Json): Json {
  const { model_type: type, max_position_embeddings: positions, pad_token_id: padding } = config;
  const limit = tokenizer['model_max_length'];
  if (typeof limit === 'number' && limit < NO_LIMIT) return {};
  if (typeof positions !== 'number' || !Number.isInteger(positions) || positions < 1) return {};
  const offset = OFFSET_POSITIONS.has(type as string) ? Number(padding ?? 1) + 1 : 0;
  return { maxLength: positions - offset };
}

import type { TabServeError } from '../../contract/errors.js';
import { underivable, type Json } from './json.js';

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
 * @throws `model-config` naming the field that leaves no place for a text
 */
export function maxLengthOf(config: Json, tokenizer: Json): Json {
  const { model_type: type, max_position_embeddings: positions, pad_token_id: padding } = config;
  const limit = tokenizer['model_max_length'];
  if (typeof limit === 'number' && limit < NO_LIMIT) return {};
  if (typeof positions !== 'number' || !Number.isInteger(positions) || positions < 1) return {};
  if (!OFFSET_POSITIONS.has(type as string)) return { maxLength: positions };
  const first = (padding ?? 1) as number;
  if (!Number.isSafeInteger(first) || first < 0) throw wrong('pad_token_id', padding, 'the id of a token');
  if (positions <= first + 1) throw wrong('max_position_embeddings', positions, `more than pad_token_id + 1 = ${first + 1}`); // prettier-ignore
  return { maxLength: positions - first - 1 };
}

function wrong(field: string, value: unknown, expected: string): TabServeError {
  return underivable('config.json', field, value, expected, 'Set handler.maxLength to the most tokens of a text.');
}

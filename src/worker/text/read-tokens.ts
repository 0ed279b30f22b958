import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { checkKeys } from '../../shared/check-keys.js';
import type { HuggingFaceTokenizer } from './hugging-face.js';

/** A text by the ids of its tokens, special ones included: none is added. */
export interface TokenInput {
  readonly tokens: readonly number[];
}

/** Returns whether an input is the ids of tokens. */
export function isTokens(input: unknown): input is TokenInput {
  return typeof input === 'object' && input !== null && !(input instanceof Blob) && 'tokens' in input;
}

/** Returns the ids of an input. @throws `invalid-input` if one is no token of this tokenizer */
export function readTokens(input: TokenInput, { tokenOf }: Pick<HuggingFaceTokenizer, 'tokenOf'>): readonly number[] {
  checkKeys(input, ['tokens']);
  const { tokens } = input;
  if (!Array.isArray(tokens))
    throw new TabServeError('invalid-input', `tokens: expected a list of ids, got ${describeValue(tokens)}.`);
  const wrong = tokens.findIndex((id: unknown) => !Number.isInteger(id) || tokenOf(id as number) === undefined);
  if (wrong < 0) return tokens as readonly number[];
  throw new TabServeError(
    'invalid-input',
    `tokens[${wrong}]: ${describeValue(tokens[wrong])} is no token of this model. Ids are those of its own tokenizer, and a client that makes them with another one, such as OpenAI's tiktoken, must send texts.`,
  );
}

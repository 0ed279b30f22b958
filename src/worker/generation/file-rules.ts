/** Rules for the next token that only `generation_config.json` sets, as transformers applies them. */
import { TabServeError } from '../../contract/errors.js';
import { describeValue } from '../../contract/describe-value.js';
import type { Json } from '../../shared/hugging-face.js';

/** What changes logits, by a repository's own file. */
export interface FileRules {
  /** The tokens that are never written. */
  readonly suppressTokens: readonly number[];
  /** The tokens that no answer begins with. */
  readonly beginSuppressTokens: readonly number[];
  /** What is added to the logit of the last token of a sequence, after the others of it. */
  readonly sequenceBias: readonly (readonly [tokens: readonly number[], bias: number])[];
}

/**
 * Reads `suppress_tokens`, `begin_suppress_tokens` and `sequence_bias`.
 * @throws `model-config` naming a key of the wrong type
 */
export function readFileRules(defaults: Json): FileRules {
  return {
    suppressTokens: tokensOf(defaults, 'suppress_tokens'),
    beginSuppressTokens: tokensOf(defaults, 'begin_suppress_tokens'),
    sequenceBias: biasesOf(defaults['sequence_bias']),
  };
}

/** Returns `stop_strings`. @throws `model-config` if it is no list of texts */
export function stopStringsOf({ stop_strings: stops = null }: Json): readonly string[] {
  const texts: readonly unknown[] = stops === null ? [] : [stops].flat();
  if (texts.every((text) => typeof text === 'string' && text !== '')) return texts as readonly string[];
  throw wrong('stop_strings', 'a text or a list of texts', stops);
}

function tokensOf(defaults: Json, key: string): readonly number[] {
  const tokens = defaults[key] ?? [];
  if (areTokens(tokens)) return tokens;
  throw wrong(key, 'a list of tokens', tokens);
}

function biasesOf(value: unknown): FileRules['sequenceBias'] {
  const isBias = (one: unknown): boolean =>
    Array.isArray(one) && one.length === 2 && areTokens(one[0]) && one[0].length > 0 && typeof one[1] === 'number';
  const biases = value ?? [];
  if (Array.isArray(biases) && biases.every(isBias)) return biases as unknown as FileRules['sequenceBias'];
  throw wrong('sequence_bias', 'a list of pairs of tokens and their bias', value);
}

function areTokens(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((token) => Number.isSafeInteger(token) && (token as number) >= 0);
}

function wrong(key: string, expected: string, value: unknown): TabServeError {
  return new TabServeError('model-config', `${key} must be ${expected}, not ${describeValue(value)}.`);
}

/** Adds `sequenceBias` to the logits, in place. Comes before all other rules. */
export function addBiases(logits: Float32Array, tokens: readonly number[], biases: FileRules['sequenceBias']): void {
  const sums = new Map<number, number>();
  for (const [sequence, bias] of biases) {
    const last = sequence.at(-1)!;
    // transformers compares with the prompt's beginning, too: a sequence that is longer than all tokens is left out.
    const fits =
      sequence.length === 1 || (sequence.length <= tokens.length && endsWith(tokens, sequence, sequence.length - 1));
    if (fits && last < logits.length) sums.set(last, (sums.get(last) ?? 0) + bias);
  }
  for (const [token, bias] of sums) logits[token]! += bias;
}

/** Rules the suppressed tokens out, in place. Comes after all other rules. */
export function suppress(logits: Float32Array, isFirst: boolean, rules: FileRules): void {
  const tokens = [...rules.suppressTokens, ...(isFirst ? rules.beginSuppressTokens : [])];
  for (const token of tokens) if (token < logits.length) logits[token] = -Infinity;
}

/** Returns whether the tokens end with the first `count` of others. */
export function endsWith(tokens: readonly number[], others: readonly number[], count: number): boolean {
  const start = tokens.length - count;
  if (start < 0) return false;
  for (let index = count - 1; index >= 0; index--) if (tokens[start + index] !== others[index]) return false;
  return true;
}

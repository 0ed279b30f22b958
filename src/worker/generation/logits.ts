/**
 * What a request's settings make of the logits of the next token, as transformers' processors do. A token that is ruled
 * out has −∞.
 */

import { TabServeError } from '../../contract/errors.js';
import { addBiases, endsWith, suppress, type FileRules } from './file-rules.js';
import { softmax } from '../outputs/scores.js';

/** The settings that change logits. Names and meanings are those of transformers' `GenerationConfig`. */
export interface LogitRules {
  readonly repetitionPenalty?: number | undefined;
  readonly noRepeatNgramSize?: number | undefined;
  readonly badWordsIds?: readonly (readonly number[])[] | undefined;
  readonly minNewTokens?: number | undefined;
  /** The tokens that end an answer. */
  readonly eosTokenIds: readonly number[];
  /** The first new token of every answer, if the model was trained with one. */
  readonly forcedBosTokenId?: number | undefined;
  /** The last new token of an answer that reaches the limit. */
  readonly forcedEosTokenIds?: readonly number[] | undefined;
  readonly maxNewTokens: number;
  /** What the repository's own file rules; undefined for nothing. */
  readonly fileRules?: FileRules | undefined;
  /** What the model itself rules out, in place, after all others. */
  readonly ruleOut?: ((logits: Float32Array, progress: Progress) => void) | undefined;
}

/** The settings that change logits where the next token is sampled. Without them, the most probable one is taken. */
export interface SamplingRules {
  readonly temperature?: number | undefined;
  readonly topK?: number | undefined;
  readonly topP?: number | undefined;
  readonly minP?: number | undefined;
}

/** What has been read and written so far. */
export interface Progress {
  /** The tokens of the prompt and of the answer; of an encoder's model, those of the decoder. */
  readonly tokens: readonly number[];
  /** How many of them belong to the answer. */
  readonly newTokens: number;
}

/**
 * Checks the logits that the model returned for one row. −∞ is fine: some models rule tokens out themselves.
 * @throws `inference-failed` if one is NaN or +∞
 */
export function checkLogits(logits: Float32Array): void {
  // NaN is not less than anything.
  for (let token = 0; token < logits.length; token++) if (!(logits[token]! < Infinity)) throw overflow(logits[token]!);
}

function overflow(logit: number): TabServeError {
  return new TabServeError(
    'inference-failed',
    `The model returned the logit ${logit}, from which no token follows. In half precision (fp16, q4f16), numbers above 65504 overflow: set engine.dtype to another precision, such as 'fp32' or 'q8', or choose another backend.`,
  );
}

/**
 * Applies the rules to the logits, in place and in transformers' order.
 * @param logits one number for each token of the vocabulary
 */
export function applyRules(logits: Float32Array, progress: Progress, rules: LogitRules): void {
  const { tokens, newTokens } = progress;
  const { repetitionPenalty: penalty = 1, noRepeatNgramSize: size = 0, minNewTokens = 0 } = rules;
  const { fileRules } = rules;
  if (fileRules) addBiases(logits, tokens, fileRules.sequenceBias);
  if (penalty !== 1)
    for (const token of new Set(tokens))
      if (token < logits.length) logits[token]! *= logits[token]! < 0 ? penalty : 1 / penalty;
  if (size > 0) for (const token of endsOfNgrams(tokens, size)) logits[token] = -Infinity;
  if (rules.badWordsIds) {
    const { single, longer } = badWordsOf(rules, rules.badWordsIds);
    for (const token of single) logits[token] = -Infinity;
    for (const words of longer.get(tokens.at(-1)!) ?? [])
      if (words.length <= tokens.length && endsWith(tokens, words, words.length - 1)) logits[words.at(-1)!] = -Infinity;
  }
  if (newTokens < minNewTokens) for (const token of rules.eosTokenIds) logits[token] = -Infinity;
  if (newTokens === 0 && rules.forcedBosTokenId !== undefined) keepOnly(logits, [rules.forcedBosTokenId]);
  else if (newTokens === rules.maxNewTokens - 1 && rules.forcedEosTokenIds) keepOnly(logits, rules.forcedEosTokenIds);
  // With a forced first token, the answer begins after it, if nothing was read before.
  const first = rules.forcedBosTokenId !== undefined && tokens.length - newTokens <= 1 ? 1 : 0;
  if (fileRules) suppress(logits, newTokens === first, fileRules);
  rules.ruleOut?.(logits, progress);
}

/** The sequences that must not be written. */
interface BadWords {
  /** Those of one token, without those that end an answer. */
  readonly single: readonly number[];
  /** The longer ones, by the token before the last one. */
  readonly longer: ReadonlyMap<number, readonly (readonly number[])[]>;
}

/** Made once for an answer: each of its tokens needs them. */
const badWords = new WeakMap<LogitRules, BadWords>();

function badWordsOf(rules: LogitRules, given: readonly (readonly number[])[]): BadWords {
  const made = badWords.get(rules);
  if (made) return made;
  const eos = new Set(rules.eosTokenIds);
  const single = given.flatMap((words) => (words.length === 1 && !eos.has(words[0]!) ? words : []));
  const longer = new Map<number, (readonly number[])[]>();
  for (const words of given) {
    const before = words.at(-2);
    if (before === undefined) continue;
    const others = longer.get(before);
    if (others) others.push(words);
    else longer.set(before, [words]);
  }
  const words = { single, longer };
  badWords.set(rules, words);
  return words;
}

/**
 * Returns the tokens that would repeat an n-gram that is there already. The time is that of reading the tokens once,
 * however long the n-grams are: the Z algorithm, from the end.
 */
function endsOfNgrams(tokens: readonly number[], size: number): readonly number[] {
  if (size === 1) return tokens;
  const count = tokens.length;
  const fromEnd = (index: number): number => tokens[count - 1 - index]!;
  /** How many tokens that end at an index are the same as at the end. */
  const same = new Int32Array(count);
  const found: number[] = [];
  for (let index = 1, left = 0, right = 0; index < count; index++) {
    let length = index < right ? Math.min(right - index, same[index - left]!) : 0;
    while (index + length < count && fromEnd(length) === fromEnd(index + length)) length++;
    if (index + length > right) [left, right] = [index, index + length];
    same[index] = length;
    if (length >= size - 1) found.push(fromEnd(index - 1));
  }
  return found;
}

function keepOnly(logits: Float32Array, tokens: readonly number[]): void {
  logits.fill(-Infinity);
  for (const token of tokens) logits[token] = 0;
}

/** Applies temperature, topK, topP and minP to the logits, in place and in this order, as transformers does. */
export function applySampling(
  logits: Float32Array,
  { temperature = 1, topK = 0, topP = 1, minP = 0 }: SamplingRules,
): void {
  if (temperature !== 1) {
    const most = maxOf(logits);
    // Divided by a very small temperature, even the best one would be infinite.
    const shift = Number.isFinite(Math.fround(most / temperature)) ? 0 : most;
    for (let token = 0; token < logits.length; token++) logits[token] = (logits[token]! - shift) / temperature;
  }
  if (topK > 0 && topK < logits.length) keepTopK(logits, topK);
  if (topP < 1) keepTopP(logits, topP);
  if (minP > 0) {
    const least = Math.log(minP) + maxOf(logits);
    for (let token = 0; token < logits.length; token++) if (logits[token]! < least) logits[token] = -Infinity;
  }
}

/** Keeps the `count` largest logits, and those that are equal to the smallest of them. */
function keepTopK(logits: Float32Array, count: number): void {
  const least = logits.slice().sort().at(-count)!;
  for (let token = 0; token < logits.length; token++) if (logits[token]! < least) logits[token] = -Infinity;
}

/** Keeps the most probable tokens whose probabilities together exceed `share`; at least one. */
function keepTopP(logits: Float32Array, share: number): void {
  const probabilities = softmax(logits);
  // Less probable ones are among those that are left out, because all of them together are not enough.
  const least = Math.min(
    (1 - share) / logits.length,
    probabilities.reduce((most, one) => Math.max(most, one), 0),
  );
  const order = Uint32Array.from(logits.keys())
    .filter((token) => probabilities[token]! >= least)
    .sort((a, b) => probabilities[b]! - probabilities[a]!);
  const likeliest = new Map<number, number>();
  let sum = 0;
  for (const token of order) {
    if (likeliest.size > 0 && sum >= share) break;
    likeliest.set(token, logits[token]!);
    sum += probabilities[token]!;
  }
  logits.fill(-Infinity);
  for (const [token, logit] of likeliest) logits[token] = logit;
}

/** Returns the largest number; −∞ if there is none. */
export function maxOf(values: Float32Array): number {
  let most = -Infinity;
  for (const value of values) if (value > most) most = value;
  return most;
}

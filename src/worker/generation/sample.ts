/** How the next token is taken from its logits. */
import { TabServeError } from '../../contract/errors.js';
import { softmax } from '../outputs/scores.js';
import { maxOf } from './logits.js';

/**
 * Returns the token with the largest logit; of equal ones, the first.
 * @throws `inference-failed` if the rules leave none
 */
export function argmax(logits: Float32Array): number {
  let [best, most] = [-1, -Infinity];
  for (let token = 0; token < logits.length; token++) if (logits[token]! > most) [best, most] = [token, logits[token]!];
  return checked(best);
}

/**
 * Draws a token by the probabilities of the logits.
 * @param random in 0..1, without 1
 * @throws `inference-failed` as `argmax` does
 */
export function draw(logits: Float32Array, random: number): number {
  const probabilities = softmax(logits);
  let [sum, last] = [0, -1];
  for (let token = 0; token < probabilities.length; token++) {
    const probability = probabilities[token]!;
    if (!(probability > 0)) continue;
    sum += probability;
    last = token;
    if (random < sum) return token;
  }
  // Rounding errors leave the sum slightly below 1.
  return checked(last);
}

function checked(token: number): number {
  if (token >= 0) return token;
  throw noToken();
}

/** Returns the error for logits that are all −∞. */
export function noToken(): TabServeError {
  return new TabServeError(
    'inference-failed',
    'No token can follow: the model, or badWordsIds, noRepeatNgramSize, eosTokenId with minNewTokens, and responseFormat rule all of them out.',
  );
}

/**
 * Returns a random number in 0..1, without 1, by the seed and the token's position in the answer: so an answer that goes
 * on in another worker continues with the same numbers. Both are mixed by the finalizer of MurmurHash3.
 */
export function randomAt(seed: number, position: number): number {
  const low = mix(mix(seed >>> 0) + mix(Math.floor(seed / 2 ** 32) + 0x9e37_79b9) + position);
  const high = mix(low + 0x85eb_ca6b);
  // 53 bits, as many as a number has.
  return ((high >>> 5) * 2 ** 26 + (low >>> 6)) / 2 ** 53;
}

function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns the natural logarithm of a token's probability. */
export function logProbability(logits: Float32Array, token: number): number {
  return logits[token]! - logSumExp(logits);
}

/** Returns the natural logarithm of each token's probability. */
export function logSoftmax(logits: Float32Array): Float32Array {
  const sum = logSumExp(logits);
  return logits.map((logit) => logit - sum);
}

/** Returns the natural logarithm of the sum of what they are logarithms of. */
export function logSumExp(logits: Float32Array): number {
  const most = maxOf(logits);
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - most);
  return most + Math.log(sum);
}

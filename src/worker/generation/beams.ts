/** Beam search, as `generate` of transformers 4.57 does it: the answer with the best score of those that it follows. */
import { nextTask } from '../../shared/next-task.js';
import { abortError } from '../../shared/abort.js';
import type { Decoder } from './decoder.js';
import { NO_TOKEN, type GenerateOptions, type Step } from './generate.js';
import type { KeyValueCache } from './key-value-cache.js';
import { applyRules, checkLogits } from './logits.js';
import { logSoftmax, logSumExp, noToken } from './sample.js';
import type { Settings } from './settings.js';

/** How beams are searched. Names and meanings are those of transformers' `GenerationConfig`. */
export interface BeamSettings {
  /** How many answers are followed at once. */
  readonly numBeams: number;
  /** The exponent of an answer's length, by which the sum of its tokens' logarithms is divided. */
  readonly lengthPenalty: number;
  readonly earlyStopping: boolean | 'never';
}

/** An answer as far as it goes. */
interface Beam {
  /** With the decoder's first token, which is no part of the answer. */
  readonly tokens: readonly number[];
  /** The sum of the logarithms of its tokens' probabilities, as the rules have left them. */
  readonly sum: number;
  readonly logprobs: readonly number[];
  readonly ruledLogprobs: readonly number[];
}

/** A token that may follow a beam. */
interface Candidate {
  /** The index of the beam's row. */
  readonly row: number;
  readonly token: number;
  readonly sum: number;
  /** The logarithm of its probability among those that the rules leave, if that is asked for. */
  readonly ruledLogprob: number | undefined;
}

interface Finished extends Beam {
  readonly score: number;
}

/**
 * Generates an answer by beam search. All tokens come at the end, when the best answer is known.
 * @param empty the cache of a row of which nothing has run; it is freed
 * @throws the reason of `signal`; what the model's run throws; `inference-failed` if a logit is NaN or +∞, or if no token
 *   can follow
 */
export async function* searchBeams(
  decoder: Decoder,
  empty: KeyValueCache,
  { numBeams, lengthPenalty, earlyStopping }: BeamSettings,
  { prompt, settings, signal }: Omit<GenerateOptions, 'choose'>,
): AsyncGenerator<Step> {
  const { eosTokenIds, maxNewTokens } = settings;
  let beams: readonly Beam[] = [{ tokens: prompt, sum: 0, logprobs: [], ruledLogprobs: [] }];
  let finished: readonly Finished[] = [];
  let cache = empty;
  const take = (next: KeyValueCache): void => {
    cache.free();
    cache = next;
  };
  // Each beam may end with each of these tokens, and as many beams must be left to continue.
  const needed = Math.max(2, 1 + eosTokenIds.length) * numBeams;
  try {
    for (let length = 1; ; length++) {
      // An abort, and other requests, get their turn.
      await nextTask();
      if (signal.aborted) throw abortError(signal);
      const step = await decoder.run(
        beams.map(({ tokens }) => tokens),
        cache,
        signal,
      );
      take(step.cache);
      step.logits.forEach(checkLogits);
      const byModel = step.logits.map(logSoftmax);
      const candidates = bestCandidates(beams, byModel, settings, needed, length - 1);
      const isEnd = ({ token }: Candidate): boolean => length === maxNewTokens || eosTokenIds.includes(token);
      const grow = ({ row, token, sum, ruledLogprob }: Candidate): Beam => ({
        tokens: [...beams[row]!.tokens, token],
        sum,
        logprobs: settings.returnLogprobs ? [...beams[row]!.logprobs, byModel[row]![token]!] : [],
        ruledLogprobs: ruledLogprob === undefined ? [] : [...beams[row]!.ruledLogprobs, ruledLogprob],
      });
      // An answer that ends counts only if it is among the best ones; the others are there so that enough continue.
      const ended = candidates.slice(0, numBeams).filter(isEnd).map(grow);
      const scored = ended.map((beam) => ({ ...beam, score: beam.sum / length ** lengthPenalty }));
      finished = [...finished, ...scored].toSorted((one, other) => other.score - one.score).slice(0, numBeams);
      const next = candidates.filter((one) => !isEnd(one)).slice(0, numBeams);
      beams = next.map(grow);
      const isFull = finished.length === numBeams;
      if (beams.length === 0 || (isFull && (earlyStopping === true || !canImprove(beams[0]!.sum, length)))) break;
      const rows = next.map(({ row }) => row);
      take(await decoder.takeRows(cache, rows));
      yield NO_TOKEN;
    }
  } finally {
    cache.free();
  }
  const { tokens: all, logprobs, ruledLogprobs } = finished[0]!;
  const tokens = all.slice(prompt.length);
  const isStopped = eosTokenIds.includes(tokens.at(-1)!);
  const text = isStopped ? tokens.slice(0, -1) : tokens;
  yield { tokens, text, logprobs, ruledLogprobs, finishReason: isStopped ? 'stop' : 'length' };

  /**
   * Returns whether the best beam may still get a better score than the worst finished one, by transformers' estimate.
   */
  function canImprove(best: number, length: number): boolean {
    const longest = earlyStopping === 'never' && lengthPenalty > 0 ? maxNewTokens : length;
    return best / longest ** lengthPenalty > finished.at(-1)!.score;
  }
}

/** Returns the best tokens to continue with, of all beams together. @throws `inference-failed` if there is none */
function bestCandidates(
  beams: readonly Beam[],
  byModel: readonly Float32Array[],
  settings: Settings,
  count: number,
  newTokens: number,
): readonly Candidate[] {
  const best: Candidate[] = [];
  for (const [row, { tokens, sum }] of beams.entries()) {
    const scores = byModel[row]!.slice();
    applyRules(scores, { tokens, newTokens }, settings);
    const all = settings.returnRuledLogprobs ? logSumExp(scores) : undefined;
    for (let token = 0; token < scores.length; token++) {
      const total = Math.fround(sum + scores[token]!);
      if (!(total > (best.length < count ? -Infinity : best.at(-1)!.sum))) continue;
      const at = best.findIndex((one) => one.sum < total);
      const ruledLogprob = all === undefined ? undefined : scores[token]! - all;
      best.splice(at < 0 ? best.length : at, 0, { row, token, sum: total, ruledLogprob });
      if (best.length > count) best.pop();
    }
  }
  if (best.length > 0) return best;
  throw noToken();
}

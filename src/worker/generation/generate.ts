/** The loop of generation: the model runs on the prompt, and then on each token that was chosen. */
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { abortError } from '../../shared/abort.js';
import { applyRules, applySampling, checkLogits, type Progress } from './logits.js';
import { argmax, draw, logProbability, randomAt } from './sample.js';
import type { Settings } from './settings.js';
import type { SharedRow } from './shared-steps.js';
import { topTokens, type RankedToken } from './top-tokens.js';

/** A prompt runs in pieces of this many tokens. Between two of them, other requests run, and an abort or a heartbeat comes. */
const PIECE = 128;

export interface GenerateOptions {
  /** The tokens of the prompt; at least one. */
  readonly prompt: readonly number[];
  readonly settings: Settings;
  readonly signal: AbortSignal;
  /**
   * Chooses the next token.
   * @param logits of the next token, which may be changed
   */
  readonly choose: (logits: Float32Array, settings: Settings, progress: Progress) => number;
  /** The beginning of the answer, which a worker that was lost has generated. */
  readonly begun?: Begun | undefined;
}

/** The beginning of an answer. */
export interface Begun {
  readonly tokens: ArrayLike<number>;
  readonly logprobs: ArrayLike<number>;
  readonly top: readonly (readonly RankedToken[])[];
}

/** What a run of the model adds to an answer: a token, or nothing if it ran on a part of the prompt. With beams, the last run adds all. */
export interface Step {
  readonly tokens: readonly number[];
  /** Those of the tokens that are text: all but the one that ends an answer. */
  readonly text: readonly number[];
  /** With `returnLogprobs` or `topLogprobs`: for each token, the natural logarithm of its probability by the model. */
  readonly logprobs: readonly number[];
  /** With `returnRuledLogprobs`: for each token, the logarithm of its probability among those that the rules leave. */
  readonly ruledLogprobs?: readonly number[];
  /** With `topLogprobs`: for each token, the most probable ones in its place. */
  readonly top?: readonly (readonly RankedToken[])[];
  /** Of the last step: `stop` if a token has ended the answer, `length` if the limit has. */
  readonly finishReason?: 'stop' | 'length' | undefined;
}

/** A run that adds nothing. */
export const NO_TOKEN: Step = { tokens: [], text: [], logprobs: [] };

/**
 * Generates an answer, with the tokens of its beginning.
 * @param row has run on the prompt's beginning, or on nothing; the caller ends it
 * @throws the reason of `signal`; what the model's run throws; `inference-failed` if a logit is NaN or +∞, or if no token
 *   can follow
 */
export async function* generate(row: SharedRow, options: GenerateOptions): AsyncGenerator<Step> {
  const { prompt, settings, signal, begun, choose } = options;
  const tokens = [...prompt];
  const most = prompt.length + settings.maxNewTokens;
  const add = (token: number, logprobs: readonly number[], top: Step['top'] = []): Step => {
    tokens.push(token);
    const isEnd = settings.eosTokenIds.includes(token);
    const finishReason = isEnd ? 'stop' : tokens.length === most ? 'length' : undefined;
    return { tokens: [token], text: isEnd ? [] : [token], logprobs, top, finishReason };
  };
  const known = Array.from(begun?.logprobs ?? []);
  for (const [at, token] of Array.from(begun?.tokens ?? []).entries())
    yield add(token, known.slice(at, at + 1), begun?.top.slice(at, at + 1));
  // What would not run at once.
  const isSplit = row.hasCache && tokens.length > Math.min(prompt.length, PIECE);
  const isWhole = row.quantizesAtRunTime || (isSplit && !(await row.isCausal(tokens)));
  while (tokens.length < most) {
    if (signal.aborted) throw abortError(signal);
    const end = endOfRun(row, isWhole, prompt.length, tokens.length);
    const logits = await row.run(tokens.slice(0, end), signal);
    if (end < tokens.length) {
      yield NO_TOKEN;
      continue;
    }
    checkLogits(logits);
    // `choose` may change them.
    const { returnLogprobs, topLogprobs } = settings;
    const byModel = returnLogprobs || topLogprobs !== undefined ? logits.slice() : undefined;
    const token: unknown = choose(logits, settings, { tokens, newTokens: tokens.length - prompt.length });
    checkToken(token, logits.length);
    const logprobs = byModel ? [logProbability(byModel, token)] : [];
    const top = byModel && topLogprobs !== undefined ? [topTokens(byModel, topLogprobs)] : [];
    const step = add(token, logprobs, top);
    yield settings.returnRuledLogprobs ? { ...step, ruledLogprobs: [ruledLogprob(logits, token, settings)] } : step;
    if (step.finishReason === 'stop') return;
  }
}

/**
 * Returns how many tokens the model has run on after its next run. Where the numbers depend on which tokens run together,
 * a prompt runs as a whole, and each token of the answer alone, also those that a worker that was lost has generated.
 */
function endOfRun(row: SharedRow, isWhole: boolean, prompt: number, tokens: number): number {
  if (!row.hasCache) return tokens;
  if (isWhole) return row.length === 0 ? prompt : row.length + 1;
  return Math.min(tokens, row.length + PIECE);
}

/** @throws `handler-failed` for what is no token: a handler may choose in a way of its own */
function checkToken(token: unknown, vocabularySize: number): asserts token is number {
  if (Number.isInteger(token) && (token as number) >= 0 && (token as number) < vocabularySize) return;
  throw new TabServeError(
    'handler-failed',
    `nextToken must return a token, an integer in 0..${vocabularySize - 1}, and has returned ${describeValue(token)}.`,
  );
}

/** Returns the logarithm of a token's probability, before the temperature. @param logits as `choose` has left them */
function ruledLogprob(logits: Float32Array, token: number, { sampling }: Settings): number {
  const { temperature = 1 } = sampling ?? {};
  return logProbability(temperature === 1 ? logits : logits.map((logit) => logit * temperature), token);
}

/** Chooses the next token as transformers' `generate` does: by the rules, and then the best one, or a sampled one. */
export function chooseToken(logits: Float32Array, settings: Settings, progress: Progress): number {
  applyRules(logits, progress, settings);
  const { sampling } = settings;
  if (!sampling) return argmax(logits);
  applySampling(logits, sampling);
  return draw(logits, randomAt(sampling.seed, progress.newTokens));
}

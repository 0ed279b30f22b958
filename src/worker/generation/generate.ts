/** The loop of generation: the model runs on the prompt, and then on each token that was chosen. */
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { abortError } from '../../shared/abort.js';
import type { KeyValueCache } from './key-value-cache.js';
import { applyRules, applySampling, type Progress } from './logits.js';
import { argmax, draw, logProbability, randomAt } from './sample.js';
import type { Settings } from './settings.js';
import type { SharedRow, SharedSteps } from './shared-steps.js';

/** A prompt runs in pieces of so many tokens. Between two of them, other requests run, and an abort or a heartbeat comes. */
const PIECE = 128;

export interface GenerateOptions {
  /** The tokens of the prompt; at least one. */
  readonly prompt: readonly number[];
  /** The cache of the prompt's beginning. It is freed. */
  readonly cache: KeyValueCache;
  readonly settings: Settings;
  readonly signal: AbortSignal;
  /**
   * Chooses the next token.
   * @param logits of the next token, which may be changed
   */
  readonly choose: (logits: Float32Array, settings: Settings, progress: Progress) => number;
  /** Called after each run of the model. */
  readonly onRun: () => void;
  /** The beginning of the answer, which a worker that was lost has generated. */
  readonly begun?: Begun | undefined;
  /**
   * Called with each token, except one that ends the answer; with those of the beginning, too.
   * @param logprobs with `returnLogprobs`, of all tokens so far
   * @returns whether the answer goes on
   */
  readonly onToken: (token: number, logprobs: readonly number[]) => Promise<boolean>;
}

/** The beginning of an answer. */
export interface Begun {
  readonly tokens: ArrayLike<number>;
  readonly logprobs: ArrayLike<number>;
}

export interface Generated {
  /** The tokens of the answer, with the one that ended it. */
  readonly tokens: readonly number[];
  /** `stop` if a token or `onToken` has ended it; `length` if the limit has. */
  readonly finishReason: 'stop' | 'length';
  /** With `returnLogprobs`: for each token, the natural logarithm of its probability by the model. */
  readonly logprobs: readonly number[];
}

/** An answer with the cache of prompt and answer, which the caller frees. */
export interface GeneratedWithCache extends Generated {
  readonly cache: KeyValueCache;
}

/**
 * Generates an answer.
 * @throws the reason of `signal`; what the model's run throws; `inference-failed` if no token can follow
 */
export async function generate(steps: SharedSteps, options: GenerateOptions): Promise<GeneratedWithCache> {
  const row = steps.row(options.cache);
  try {
    const generated = await generateRow(steps, row, options);
    return { ...generated, cache: await row.end() };
  } catch (error) {
    row.free();
    throw error;
  }
}

async function generateRow(steps: SharedSteps, row: SharedRow, options: GenerateOptions): Promise<Generated> {
  const { prompt, settings, signal, begun, choose, onRun, onToken } = options;
  const tokens = [...prompt];
  const logprobs = Array.from(begun?.logprobs ?? []);
  const done = (finishReason: Generated['finishReason']): Generated => ({
    tokens: tokens.slice(prompt.length),
    finishReason,
    logprobs,
  });
  for (const token of Array.from(begun?.tokens ?? [])) {
    tokens.push(token);
    if (!(await onToken(token, logprobs))) return done('stop');
  }
  while (tokens.length - prompt.length < settings.maxNewTokens) {
    let logits: Float32Array;
    do {
      if (signal.aborted) throw abortError(signal);
      const end = steps.hasCache ? Math.min(tokens.length, row.length + PIECE) : tokens.length;
      logits = await row.run(tokens.slice(0, end), signal);
      onRun();
    } while (row.length < tokens.length);
    // `choose` may change them.
    const byModel = settings.returnLogprobs ? logits.slice() : undefined;
    const token: unknown = choose(logits, settings, { tokens, newTokens: tokens.length - prompt.length });
    checkToken(token, logits.length);
    if (byModel) logprobs.push(logProbability(byModel, token));
    tokens.push(token);
    if (settings.eosTokenIds.includes(token) || !(await onToken(token, logprobs))) return done('stop');
  }
  return done('length');
}

/** @throws `handler-failed` for what is no token: a handler may choose in a way of its own */
function checkToken(token: unknown, vocabularySize: number): asserts token is number {
  if (Number.isInteger(token) && (token as number) >= 0 && (token as number) < vocabularySize) return;
  throw new TabServeError(
    'handler-failed',
    `nextToken must return a token, an integer in 0..${vocabularySize - 1}, and has returned ${describeValue(token)}.`,
  );
}

/** Chooses the next token as transformers' `generate` does: by the rules, and then the best one, or one that is drawn. */
export function chooseToken(logits: Float32Array, settings: Settings, progress: Progress): number {
  applyRules(logits, progress, settings);
  const { sampling } = settings;
  if (!sampling) return argmax(logits);
  applySampling(logits, sampling);
  return draw(logits, randomAt(sampling.seed, progress.newTokens));
}

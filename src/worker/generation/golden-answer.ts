/** Golden examples of answers: the tokens of a prompt, and the most probable ones that follow. */
import { TabServeError } from '../../contract/errors.js';
import type { Context, GoldenModel } from '../../contract/handler.js';
import type { Tensors } from '../../contract/tensors.js';
import { integers } from '../tensors/tensors.js';
import type { GenerateOptions, Step } from './generate.js';
import { maxOf } from './logits.js';
import { argmax } from './sample.js';
import type { Settings } from './settings.js';

/** The maximum number of tokens of an example. */
const MAX_TOKENS = 16;

/** Generates the answer to a prompt's tokens. */
type Generate = (
  prompt: readonly number[],
  settings: Settings,
  tools: Pick<GenerateOptions, 'signal' | 'choose'>,
) => AsyncIterable<Step>;

/**
 * Makes the model that golden examples of answers are of. Its inputs are the prompt's tokens and how many tokens follow,
 * and its output is those, as `tokens`.
 * @param promptOf returns the tokens of a row
 */
export function answerModel(
  promptOf: (row: unknown, context: Context) => Promise<readonly number[]>,
  checkPrompt: (prompt: readonly number[]) => void,
  generate: Generate,
): GoldenModel {
  const tokensOf = async (
    prompt: readonly number[],
    maxNewTokens: number,
    choose: (logits: Float32Array) => number,
  ): Promise<readonly number[]> => {
    // The most probable tokens, as many as the example has; nothing interrupts it.
    const settings = { maxNewTokens, eosTokenIds: [], sampling: undefined, stop: [], returnLogprobs: false };
    const tokens: number[] = [];
    try {
      for await (const step of generate(prompt, settings, { signal: new AbortController().signal, choose }))
        tokens.push(...step.tokens);
    } catch (error) {
      // Here, logits that are no numbers are the backend's, not the prompt's.
      if (!(error instanceof TabServeError) || error.code !== 'inference-failed') throw error;
      throw new TabServeError('backend-wrong', `It computes wrongly: ${error.message}`, { cause: error });
    }
    return tokens;
  };
  return {
    inputs: [
      { name: 'prompt', dtype: 'int32', dims: [1, 'tokens'] },
      { name: 'count', dtype: 'int32', dims: [1] },
    ],
    async run(feeds) {
      const prompt = numbersOf(feeds, 'prompt');
      const [count = 0] = numbersOf(feeds, 'count');
      checkExample(prompt, count, checkPrompt);
      const tokens = await tokensOf(prompt, count, argmax);
      return { tokens: integers('int32', [1, tokens.length], tokens) };
    },
    async feeds(row, context) {
      const prompt = await promptOf(row, context);
      let count = 0;
      let isClear = true;
      await tokensOf(prompt, MAX_TOKENS, (logits) => {
        const best = argmax(logits);
        isClear &&= leadOf(logits, best) > smallestLead(logits);
        if (isClear) count += 1;
        return best;
      });
      if (count === 0)
        throw new TabServeError(
          'invalid-input',
          'This prompt makes no golden example: the two most probable tokens after it are so close that backends which are right may differ. Take another prompt.',
        );
      return { prompt: integers('int32', [1, prompt.length], prompt), count: integers('int32', [1], [count]) };
    },
  };
}

/** @throws `model-format` for an example that the model cannot run */
function checkExample(
  prompt: readonly number[],
  count: number,
  checkPrompt: (tokens: readonly number[]) => void,
): void {
  const wrong = (why: string, cause?: unknown): TabServeError =>
    new TabServeError('model-format', `A golden example is of another model: ${why}`, { cause });
  if (!(count >= 1 && count <= MAX_TOKENS))
    throw wrong(`its "count" is ${count}, expected a number from 1 to ${MAX_TOKENS}.`);
  const negative = prompt.find((token) => token < 0);
  if (negative !== undefined) throw wrong(`its "prompt" has the token ${negative}.`);
  try {
    checkPrompt(prompt);
  } catch (cause) {
    throw wrong((cause as Error).message, cause);
  }
}

function numbersOf(feeds: Tensors, name: string): readonly number[] {
  return Array.from(feeds[name]!.data as Iterable<number | bigint>, Number);
}

/** Returns how much larger the largest logit is than the next one. */
function leadOf(logits: Float32Array, best: number): number {
  const others = logits.slice();
  others[best] = -Infinity;
  return logits[best]! - maxOf(others);
}

/** Returns twice what a right backend's logits may differ by: the tolerance of golden examples. */
function smallestLead(logits: Float32Array): number {
  const largest = logits.reduce((most, logit) => Math.max(most, Number.isFinite(logit) ? Math.abs(logit) : 0), 0);
  return 2 * (1e-4 + 1e-3 * largest);
}

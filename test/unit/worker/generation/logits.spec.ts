import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { searchBeams } from '../../../../src/worker/generation/beams.ts';
import { readFileRules } from '../../../../src/worker/generation/file-rules.ts';
import { applyRules, applySampling, checkLogits } from '../../../../src/worker/generation/logits.ts';
import { draw, logProbability, argmax, randomAt } from '../../../../src/worker/generation/sample.ts';
import { softmax } from '../../../../src/worker/outputs/scores.ts';

/** What transformers' processors make of the same logits: `test/goldens/generation/make.py`. */
const goldens = JSON.parse(
  readFileSync(new URL('../../../goldens/generation/logits.json', import.meta.url), 'utf8'),
) as {
  readonly prompt: readonly number[];
  readonly cases: readonly {
    readonly name: string;
    readonly config: Readonly<Record<string, never>>;
    readonly steps: readonly {
      readonly tokens: readonly number[];
      readonly logits: readonly number[];
      readonly scores: readonly (number | null)[];
    }[];
  }[];
};

for (const { name, config, steps } of goldens.cases)
  test(`processors of logits: ${name}`, () => {
    const eos = config['eos_token_id'] as number | number[] | undefined;
    for (const step of steps) {
      const logits = Float32Array.from(step.logits);
      applyRules(
        logits,
        { tokens: [...goldens.prompt, ...step.tokens], newTokens: step.tokens.length },
        {
          repetitionPenalty: config['repetition_penalty'],
          noRepeatNgramSize: config['no_repeat_ngram_size'],
          badWordsIds: config['bad_words_ids'],
          minNewTokens: config['min_new_tokens'],
          eosTokenIds: eos === undefined ? [] : [eos].flat(),
          maxNewTokens: 20,
          fileRules: readFileRules(config),
        },
      );
      if (config['do_sample'])
        applySampling(logits, {
          temperature: config['temperature'],
          topK: config['top_k'],
          topP: config['top_p'],
          minP: config['min_p'],
        });
      const scores = [...logits].map((score) => (score === -Infinity ? null : score));
      expect(scores.map((score) => score === null)).toEqual(step.scores.map((score) => score === null));
      for (const [token, score] of scores.entries())
        if (score !== null) expect(Math.abs(score - step.scores[token]!), `token ${token}`).toBeLessThan(1e-5);
    }
  });

test('the tokens that must end an answer are the only ones for its last token, and for no earlier one', () => {
  const rules = { eosTokenIds: [2], maxNewTokens: 5, forcedEosTokenIds: [2, 3] };
  const after = (newTokens: number): number[] => {
    const logits = Float32Array.of(5, 4, 3, 2);
    applyRules(logits, { tokens: [1, 1, 1, 1, 1, 1], newTokens }, rules);
    return [...logits];
  };
  expect(after(3)).toEqual([5, 4, 3, 2]);
  expect(after(4)).toEqual([-Infinity, -Infinity, 0, 0]);
});

test('drawn tokens have the frequencies of their probabilities, and the seed decides which they are', () => {
  const logits = Float32Array.from([0, 1, 2, -Infinity, 3]);
  const counts = new Float64Array(5);
  for (let at = 0; at < 20_000; at++) counts[draw(logits, randomAt(7, at))]! += 1;
  const probabilities = softmax(logits);
  for (const [token, count] of counts.entries())
    expect(Math.abs(count / 20_000 - probabilities[token]!)).toBeLessThan(0.01);
  const series = (seed: number): number[] => Array.from({ length: 8 }, (_, at) => randomAt(seed, at));
  expect(series(1)).toEqual(series(1));
  expect(new Set([...series(1), ...series(2), ...series(2 ** 40)]).size).toBe(24);
});

test('rules of a hostile request take a time that does not grow with their product', () => {
  const rules = { eosTokenIds: [], maxNewTokens: 10 };
  // 100,000 times the same token: a comparison of each n-gram takes five billion steps.
  const same = { tokens: Array.from({ length: 100_000 }, () => 3), newTokens: 1 };
  const logits = new Float32Array(5);
  applyRules(logits, same, { ...rules, noRepeatNgramSize: 50_000 });
  expect([...logits]).toEqual([0, 0, 0, -Infinity, 0]);
  // 25,000 words and 49,000 ends, for a thousand tokens.
  const size = 50_000;
  const many = {
    ...rules,
    badWordsIds: Array.from({ length: 25_000 }, (_, token) => (token % 2 === 0 ? [token] : [1, token])),
    eosTokenIds: Array.from({ length: 49_000 }, (_, at) => at + 1000),
  };
  for (let at = 0; at < 1000; at++) applyRules(new Float32Array(size), { tokens: [at, 1], newTokens: at }, many);
  const ruled = new Float32Array(size);
  applyRules(ruled, { tokens: [7, 1], newTokens: 1 }, many);
  const ruledOut = (token: number): boolean => ruled[token] === -Infinity;
  // A word of one token that ends an answer is allowed, as in transformers.
  expect([0, 998, 1000, 1001, 24_999, 25_001].map(ruledOut)).toEqual([true, true, false, true, true, false]);
});

test('noRepeatNgramSize as the definition has it, for random tokens', () => {
  for (let seed = 0; seed < 300; seed++) {
    const tokens = Array.from({ length: seed % 40 }, (_, at) => Math.floor(randomAt(seed, at) * 3));
    for (const size of [1, 2, 3, 5, 12]) {
      const grams = new Set(
        tokens.flatMap((_, at) => (at + size <= tokens.length ? [tokens.slice(at, at + size).join()] : [])),
      );
      const logits = new Float32Array(3);
      applyRules(logits, { tokens, newTokens: 0 }, { eosTokenIds: [], maxNewTokens: 9, noRepeatNgramSize: size });
      const start = tokens.slice(tokens.length - size + 1);
      const expected = [0, 1, 2].map((next) =>
        tokens.length >= size - 1 && grams.has([...start, next].join()) ? -Infinity : 0,
      );
      expect([...logits], `${tokens.join()} ${size}`).toEqual(expected);
    }
  }
});

test('without a token that can follow, there is an error; of equal tokens the first is taken', () => {
  for (const logits of [new Float32Array(3).fill(NaN), new Float32Array(3).fill(-Infinity)]) {
    expect(() => argmax(logits)).toThrow(expect.objectContaining({ code: 'inference-failed' }));
    expect(() => draw(logits, 0.5)).toThrow(expect.objectContaining({ code: 'inference-failed' }));
  }
  expect(argmax(Float32Array.of(1, 2, 2))).toBe(1);
  expect(draw(Float32Array.of(0, 0), 1 - Number.EPSILON)).toBe(1);
  expect(logProbability(Float32Array.of(0, 0), 1)).toBeCloseTo(-Math.LN2, 12);
});

test('NaN and +∞ are refused, wherever they are; −∞ is not', () => {
  for (const wrong of [NaN, Infinity])
    for (const at of [0, 1, 2]) {
      const logits = Float32Array.of(1, 2, -Infinity).with(at, wrong);
      expect(() => checkLogits(logits)).toThrow(
        expect.objectContaining({ code: 'inference-failed', message: expect.stringContaining('engine.dtype') }),
      );
    }
  expect(() => checkLogits(Float32Array.of(-Infinity, 3e38, -3e38))).not.toThrow();
});

test('beams refuse the logits of any row', async () => {
  const cache = { free: () => {} } as never;
  for (const wrong of [NaN, Infinity]) {
    const decoder = { run: () => Promise.resolve({ cache, logits: [Float32Array.of(1, wrong, 0)] }) } as never;
    const answer = searchBeams(
      decoder,
      cache,
      { numBeams: 2, lengthPenalty: 1, earlyStopping: false },
      { prompt: [0], settings: { eosTokenIds: [2], maxNewTokens: 4 } as never, signal: new AbortController().signal },
    );
    await expect(answer.next()).rejects.toMatchObject({ code: 'inference-failed' });
  }
});

test('the smallest temperature and share leave the best token', () => {
  for (const logits of [
    [5, 6, 1, 2],
    [-9, -8, -20, -30],
  ]) {
    const scores = Float32Array.from(logits);
    applySampling(scores, { temperature: 1e-38 });
    expect(draw(scores, 0.5)).toBe(1);
  }
  for (const count of [3, 4, 7, 1000])
    for (const topP of [0, 1e-20]) {
      const scores = new Float32Array(count).fill(1);
      applySampling(scores, { topP });
      expect(draw(scores, 0.5)).toBeGreaterThanOrEqual(0);
    }
});

// Beam search over a table of probabilities. What it must find is the best of all answers, one by one.
import { expect, test } from '@playwright/test';
import { searchBeams, type BeamSettings } from '../../../../src/worker/generation/beams.ts';
import type { Decoder } from '../../../../src/worker/generation/decoder.ts';
import { KeyValueCache } from '../../../../src/worker/generation/key-value-cache.ts';
import type { Settings } from '../../../../src/worker/generation/settings.ts';

const END = 0;
type Table = (answer: readonly number[]) => readonly number[];

const cache = new KeyValueCache(1, {});

async function search(table: Table, maxNewTokens: number, beams: BeamSettings): Promise<readonly number[]> {
  const decoder = {
    run: async (rows: readonly (readonly number[])[]) => ({
      cache,
      logits: rows.map(([, ...answer]) => Float32Array.from(table(answer), Math.log)),
    }),
    takeRows: async () => cache,
  } as unknown as Decoder;
  const settings = { eosTokenIds: [END], maxNewTokens } as unknown as Settings;
  const { signal } = new AbortController();
  let tokens: readonly number[] = [];
  for await (const step of searchBeams(decoder, cache, beams, { prompt: [9], settings, signal })) ({ tokens } = step);
  return tokens;
}

/** Scores every answer as transformers does: the sum of the logarithms by the length to the power of the penalty. */
function best(table: Table, maxNewTokens: number, lengthPenalty: number): readonly number[] {
  let found: { score: number; answer: readonly number[] } = { score: -Infinity, answer: [] };
  const follow = (answer: readonly number[], sum: number): void => {
    for (const [token, probability] of table(answer).entries()) {
      const longer = [...answer, token];
      const total = sum + Math.log(probability);
      if (token !== END && longer.length < maxNewTokens) follow(longer, total);
      else {
        const score = total / longer.length ** lengthPenalty;
        if (score > found.score) found = { score, answer: longer };
      }
    }
  };
  follow([], 0);
  return found.answer;
}

/** Probabilities that depend on all tokens before. */
const TABLE: Table = (answer) => {
  const weights = [0, 1, 2].map(
    (token) => 1 + ((answer.reduce((sum, one) => 7 * sum + one + 3, 5) * (token + 2)) % 11),
  );
  const sum = weights.reduce((one, other) => one + other, 0);
  return weights.map((weight) => weight / sum);
};

for (const lengthPenalty of [-1, 0, 0.5, 1, 3])
  test(`with as many beams as there are answers, the best one is found: lengthPenalty ${lengthPenalty}`, async () => {
    const beams = { numBeams: 81, lengthPenalty, earlyStopping: 'never' as const };
    expect(await search(TABLE, 4, beams)).toEqual(best(TABLE, 4, lengthPenalty));
  });

test('beams that could go on are not lost to those that end', async () => {
  // The likeliest first token ends the answer, and the least likely one begins the best answer.
  const table: Table = ([first, second]) => {
    if (first === undefined) return [0.5, 0.3, 0.2];
    if (first === 1) return [0.34, 0.33, 0.33];
    return second === undefined ? [1e-9, 1, 1e-9] : [1, 1e-9, 1e-9];
  };
  expect(best(table, 3, 1)).toEqual([2, 1, END]);
  expect(await search(table, 3, { numBeams: 2, lengthPenalty: 1, earlyStopping: false })).toEqual([2, 1, END]);
});

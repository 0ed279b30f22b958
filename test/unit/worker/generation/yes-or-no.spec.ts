/** A language model that ranks: what runs, and what its numbers depend on. Its answers are in `npm run coverage`. */
import { expect, test } from '@playwright/test';
import type { Session, Tensors } from '../../../../src/contract/tensors.ts';
import { YesOrNo } from '../../../../src/worker/generation/yes-or-no.ts';

const [YES, NO] = [3, 5];
const SIZE = 8;

/** A model whose cache holds its tokens, and whose logits count them: of yes, their sum; of no, their number. */
function counting(quantizesAtRunTime = false): { readonly session: Session; readonly runs: number[][] } {
  const runs: number[][] = [];
  const free = 'any' as const;
  const session = {
    inputs: [
      { name: 'input_ids', dtype: 'int64', dims: ['batch', free] },
      { name: 'past_key_values.0.key', dtype: 'float32', dims: ['batch', 1, 'past', 1] },
    ],
    outputs: [
      { name: 'logits', dtype: 'float32', dims: ['batch', free, SIZE] },
      { name: 'present.0.key', dtype: 'float32', dims: ['batch', 1, 'all', 1] },
    ],
    quantizesAtRunTime,
    run: async (feeds: Tensors): Promise<Tensors> => {
      const fresh = Array.from(feeds['input_ids']!.data as BigInt64Array, Number);
      runs.push(fresh);
      const tokens = [...(feeds['past_key_values.0.key']!.data as Float32Array), ...fresh];
      const logits = new Float32Array(fresh.length * SIZE);
      logits[logits.length - SIZE + YES] = tokens.reduce((sum, token) => sum + token, 0);
      logits[logits.length - SIZE + NO] = tokens.length;
      return {
        logits: { dtype: 'float32', dims: [1, fresh.length, SIZE], data: logits },
        'present.0.key': { dtype: 'float32', dims: [1, 1, tokens.length, 1], data: Float32Array.from(tokens) },
      };
    },
  };
  return { session: session as unknown as Session, runs };
}

const tokenizer = { idOf: (token: string): number | undefined => ({ yes: YES, no: NO })[token] };
const context = { signal: new AbortController().signal, heartbeat: () => {} };

test('what prompts begin with runs once; a prompt that begins otherwise runs as a whole', async () => {
  const { session, runs } = counting();
  const judge = new YesOrNo(session, tokenizer);
  const prompts = [
    [1, 2, 4],
    [1, 2, 6, 7],
    [1, 3, 9],
    [1, 2],
  ];
  const numbers = await judge.ask(prompts, [1, 2], context);
  expect([...numbers]).toEqual(prompts.map((prompt) => prompt.reduce((sum, token) => sum + token - 1, 0)));
  // Two runs tell that a token's numbers do not depend on those after it.
  expect(runs).toEqual([[1, 1], [1, 2], [1, 2], [4], [6, 7], [1, 3, 9], [1, 2]]);
});

test('a prompt runs the same way alone, and as a whole if the model quantizes at run time', async () => {
  const alone = counting();
  await new YesOrNo(alone.session, tokenizer).ask([[1, 2, 4]], [1, 2], context);
  expect(alone.runs.slice(2)).toEqual([[1, 2], [4]]);
  const quantized = counting(true);
  await new YesOrNo(quantized.session, tokenizer).ask([[1, 2, 4]], [1, 2], context);
  expect(quantized.runs).toEqual([[1, 2, 4]]);
});

test('a vocabulary without yes and no ranks nothing', () => {
  const { session } = counting();
  expect(() => new YesOrNo(session, { idOf: (token) => (token === 'yes' ? YES : undefined) })).toThrow(
    expect.objectContaining({ code: 'model-config', message: expect.stringContaining('no token "no"') }),
  );
});

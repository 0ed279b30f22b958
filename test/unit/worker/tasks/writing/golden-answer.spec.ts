// Golden examples of answers, of a stand-in for a model. `test/unit/tools/cli/archive-command.spec.ts` and
// `test/browser/proof.spec.ts` have real ones.
import { expect, test } from '@playwright/test';
import type { Archive } from '../../../../../src/contract/archive.ts';
import type { Session } from '../../../../../src/contract/tensors.ts';
import { createTestContext } from '../../../../../src/worker.ts';
import { TextGenerator } from '../../../../../src/worker/tasks/writing/text-generator.ts';
import type { OpenHandler } from '../../../../../src/worker/host/open-handlers.ts';
import { tryAnswers, tryOut } from '../../../../../src/worker/host/prove.ts';
import { writeSafetensors } from '../../../../../src/tools/cli/write-safetensors.ts';
import { generationFiles } from '../../generation/models.ts';

const VOCABULARY = 480;

/** @param next the logits of two tokens, by the number of tokens so far: those of the next one, and of another one */
const stub = (next: (total: number) => readonly [token: number, logit: number, other: number]): Session => ({
  inputs: [
    { name: 'input_ids', dtype: 'int64', dims: ['batch_size', 'sequence_length'] },
    { name: 'num_logits_to_keep', dtype: 'int64', dims: [] },
  ],
  outputs: [{ name: 'logits', dtype: 'float32', dims: ['batch_size', 'sequence_length', VOCABULARY] }],
  run(feeds) {
    const data = new Float32Array(VOCABULARY);
    const [token, logit, other] = next(feeds['input_ids']!.dims[1]!);
    data[token] = logit;
    data[1] = other;
    return Promise.resolve({ logits: { dtype: 'float32', dims: [1, 1, VOCABULARY], data } });
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
});

async function opened(session: Session, golden?: Uint8Array<ArrayBuffer>) {
  const tokenizer = await generationFiles('gpt2').blob('tokenizer.json');
  const files = { 'tokenizer.json': tokenizer, ...(golden && { 'golden.safetensors': new Blob([golden]) }) };
  const context = createTestContext({ session, files });
  const handler = new TextGenerator();
  await handler.initialize(context);
  return { handler, context };
}

const archive = { golden: ['golden.safetensors'] } as unknown as Archive;

test('a backend that chooses another token is wrong, and the error names the first one', async () => {
  const right = stub((total) => [100 + total, 5, 0]);
  const { handler, context } = await opened(right);
  const feeds = await handler.goldenModel.feeds('one two three', context);
  const outputs = await handler.goldenModel.run(feeds);
  const start = feeds['prompt']!.data.length;
  expect(Array.from(outputs['tokens']!.data as Int32Array)).toEqual(
    Array.from({ length: 16 }, (_, at) => 100 + start + at),
  );
  const golden = writeSafetensors({
    'inputs/prompt': feeds['prompt']!,
    'inputs/count': feeds['count']!,
    'outputs/tokens': outputs['tokens']!,
  });
  const proven = await opened(right, golden);
  expect(await tryOut(proven.handler, proven.context, archive)).toEqual({ golden: 1, error: 0, suspicion: undefined });
  // Its first token is right: one run would not have shown it.
  const wrong = await opened(
    stub((total) => [total === start + 3 ? 7 : 100 + total, 5, 0]),
    golden,
  );
  await expect(tryOut(wrong.handler, wrong.context, archive)).rejects.toMatchObject({
    code: 'backend-wrong',
    message: `It computes wrongly: on golden.safetensors, output "tokens" is 7 at 3, expected ${100 + start + 3}.`,
  });
  const broken = await opened(
    stub(() => [2, NaN, NaN]),
    golden,
  );
  await expect(tryOut(broken.handler, broken.context, archive)).rejects.toMatchObject({
    code: 'backend-wrong',
    message: expect.stringMatching(/^It computes wrongly: The model returned the logit NaN/),
  });
});

test('an example ends before a token that another right backend may choose otherwise', async () => {
  const { handler, context } = await opened(stub((total) => [100 + total, 5, total % 5 === 4 ? 4.995 : 4.9]));
  const { prompt, count } = await handler.goldenModel.feeds('one two three', context);
  expect(count!.data[0]).toBe((9 - (prompt!.data.length % 5)) % 5);
  const { handler: unclear, context: own } = await opened(stub(() => [9, 5, 5]));
  await expect(unclear.goldenModel.feeds('one', own)).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('makes no golden example') as unknown,
  });
});

test('golden examples of nodes alone belong into the archives of the nodes', async () => {
  const opened = { node: '', handler: {}, archive: { ...archive, models: {}, nodes: {} } } as unknown as OpenHandler;
  await expect(tryAnswers([opened])).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringContaining('put it into the archive of a node') as unknown,
  });
});

// The vectors are compared with transformers' in `test/browser/coverage.spec.ts`; here, which part gets which row.
import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../../../src/contract/errors.ts';
import type { ModelConfig } from '../../../../../src/contract/archive.ts';
import type { Context } from '../../../../../src/contract/handler.ts';
import { createTestContext } from '../../../../../src/worker.ts';
import { ImageTextEmbedder } from '../../../../../src/worker/tasks/zero-shot/image-text-embedder.ts';

const image = { data: new Uint8Array(12), dims: [2, 2, 3] };

test('texts and images of a batch go to their parts, and their vectors to their rows', async () => {
  const seen: Record<string, readonly unknown[]> = {};
  const part = (name: string) => ({
    answers: (rows: readonly unknown[]) => {
      seen[name] = rows;
      return rows.map((_, at) => Float32Array.of(name === 'text' ? 1 : 0, at));
    },
  });
  const options = { nodes: { text: part('text'), vision: part('vision') }, batchSize: 5 };
  const handler = new ImageTextEmbedder();
  await handler.initialize(createTestContext(options));
  const [text, picture] = [new Blob(['a'], { type: 'text/plain' }), new Blob(['a'], { type: 'image/png' })];
  const answers = await handler.handle(
    ['a cat', image, { data: { text: 'a dog' } }, picture, text],
    createTestContext(options),
  );
  expect(answers.map((one) => [...(one as Float32Array)])).toEqual([
    [1, 0],
    [0, 0],
    [1, 1],
    [0, 1],
    [1, 2],
  ]);
  expect(seen).toEqual({ text: ['a cat', { text: 'a dog' }, text], vision: [image, picture] });
});

test('what a part cannot read fails its row alone, and the error names the part', async () => {
  const nodes = {
    text: { answers: (rows: readonly unknown[]) => rows.map(() => new Float32Array(2)) },
    vision: {
      answers: (rows: readonly unknown[], context: Context) => {
        context.fail(0, new TabServeError('image-decode', 'no image'));
        return rows;
      },
    },
  };
  const handler = new ImageTextEmbedder();
  await handler.initialize(createTestContext({ nodes }));
  const answers = await handler.handle([image, 'a'] as never, createTestContext({ nodes, batchSize: 2 }));
  expect(answers).toMatchObject([
    { code: 'image-decode', message: expect.stringMatching(/vision/) },
    new Float32Array(2),
  ]);
});

test('a text that is asked about again is not read again, within the budget; its vector is a copy', async () => {
  const read: unknown[] = [];
  const nodes = {
    text: {
      answers: (rows: readonly unknown[]) => {
        read.push(...rows);
        return rows.map((row) => Float32Array.of(String(row).length, 1));
      },
    },
    vision: { answers: (rows: readonly unknown[]) => rows.map(() => Float32Array.of(0, 1)) },
  };
  const opened = async (config: ModelConfig) => {
    const handler = new ImageTextEmbedder();
    const options = { nodes, config };
    const { kept } = createTestContext(options);
    await handler.initialize(createTestContext({ ...options, kept }));
    return async (...rows: readonly unknown[]) =>
      await handler.handle(rows as never, createTestContext({ ...options, kept, batchSize: rows.length }));
  };
  const ask = await opened({});
  const [, first] = (await ask(image, 'cat', 'mouse')) as readonly Float32Array[];
  first!.fill(9);
  expect(await ask('mouse', image, 'dog', { text: 'cat' })).toEqual([
    Float32Array.of(5, 1),
    Float32Array.of(0, 1),
    Float32Array.of(3, 1),
    Float32Array.of(3, 1),
  ]);
  expect(read.splice(0)).toEqual(['cat', 'mouse', 'dog']);
  const forgetful = await opened({ handler: { maxStateBytes: 0 } });
  for (const _ of [1, 2]) await forgetful('cat');
  expect(read).toEqual(['cat', 'cat']);
});

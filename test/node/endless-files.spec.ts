// Repositories whose own code does not end, from the built package: nothing of them may hold a worker for longer than 5 s.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import type { TabServeError } from '../../src/contract/errors.ts';

const root = new URL('../../', import.meta.url);
const { load } = (await import(new URL('dist/node.js', root).href)) as typeof import('../../src/node.ts');

/** Backtracks in twice the time for each further letter. */
const Regex = '(a+)+b';

for (const [where, change, text] of [
  ['pre_tokenizer', { pre_tokenizer: { type: 'Split', pattern: { Regex }, behavior: 'Isolated' } }, 'a'.repeat(40)],
  ['normalizer', { normalizer: { type: 'Replace', pattern: { Regex }, content: 'b' } }, 'a'.repeat(40)],
  [
    'an added token',
    {
      normalizer: { type: 'Replace', pattern: { Regex }, content: 'b' },
      added_tokens: [{ id: 0, content: 'a'.repeat(40), normalized: true, special: false }],
    },
    'good',
  ],
] as const)
  test(`a pattern that backtracks without end ends its worker after 4 s, and is named: ${where} @full`, async ({}, info) => {
    const folder = `${info.outputPath('bert')}/`;
    cpSync(fileURLToPath(new URL('test/models/hugging-face/bert/', root)), folder, { recursive: true });
    const file = `${folder}tokenizer.json`;
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...change }));
    const since = performance.now();
    const failed = await (async () => {
      const model = await load(folder);
      try {
        return await model.predict(text).catch((error: unknown) => error);
      } finally {
        // The worker is replaced: a text that the pattern can match is answered.
        expect(await model.predict('good')).toHaveLength(2);
        await model.dispose();
      }
    })().catch((error: unknown) => error);
    const { code, message } = failed as TabServeError;
    expect({ code, message }).toEqual({
      code: 'model-config',
      message: expect.stringMatching(/^tokenizer\.json: the pattern \(a\+\)\+b takes longer than 4 s/),
    });
    // The model loads, the worker ends, and another one takes over.
    expect(performance.now() - since).toBeLessThan(20_000);
  });

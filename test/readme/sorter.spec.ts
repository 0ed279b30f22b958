import { expect, test } from '@playwright/test';
import { createTestHandler } from 'tabserve/worker';
import { Sorter } from './sorter.worker.js';

test('only texts have a language', async () => {
  const handler = await createTestHandler(Sorter, {
    nodes: {
      kind: {
        outputs: {
          logits: [
            [9, 0, 0],
            [0, 9, 0],
          ],
        },
        labels: ['text', 'sparse', 'compressed'],
      }, // instead of its model
      language: { answers: (texts) => texts.map((text) => [{ label: `language of ${text}` }]) }, // instead of its handler
    },
  });
  const rows = await handler.handle([new TextEncoder().encode('Hallo'), new Uint8Array(9)]);
  expect(rows).toEqual([{ kind: 'text', language: 'language of Hallo' }, { kind: 'sparse' }]);
});

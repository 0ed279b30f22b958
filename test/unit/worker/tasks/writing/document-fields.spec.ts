// Fields of documents, against transformers' DonutProcessor (test/models/tasks/make/document_question_answerer.py).
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { readFields } from '../../../../../src/worker/tasks/writing/document-fields.ts';

const ROWS = JSON.parse(
  readFileSync(new URL('../../../../goldens/donut/fields.json', import.meta.url), 'utf8'),
) as readonly {
  readonly text: string;
  readonly fields: unknown;
}[];
/** The added tokens with which the fields were read. */
const TOKENS = new Set(['<sep/>', '<yes/>', '<no/>']);

test("fields of whole and damaged documents are those of transformers' token2json", () => {
  expect(ROWS.length).toBeGreaterThan(20);
  for (const { text, fields } of ROWS)
    expect(JSON.stringify(readFields(text, (one) => TOKENS.has(one))), text).toBe(JSON.stringify(fields));
});

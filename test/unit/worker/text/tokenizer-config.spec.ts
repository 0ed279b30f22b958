// Tokenizers whose special tokens are in several files, against what transformers makes of them:
// `test/goldens/tokenizer-classes/files.py`.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { createFiles } from '../../../../src/worker/models/files.ts';
import { parseJson } from '../../../../src/worker/models/json.ts';
import { loadHuggingFace } from '../../../../src/worker/text/hugging-face.ts';
import { readTokenizerConfig, specialTokensOf } from '../../../../src/worker/text/tokenizer-config.ts';

const { tokenizer, cases } = JSON.parse(
  readFileSync(new URL('../../../goldens/tokenizer-classes/files.json', import.meta.url), 'utf8'),
) as {
  readonly tokenizer: object;
  readonly cases: readonly {
    readonly name: string;
    readonly files: Readonly<Record<string, object>>;
    readonly special: object;
    readonly texts: readonly { readonly text: string; readonly ids: readonly number[]; readonly decoded: string }[];
  }[];
};

for (const { name, files, special, texts } of cases)
  test(`special tokens: ${name}`, async () => {
    const all = { 'tokenizer.json': tokenizer, ...files };
    const given = createFiles(
      Object.fromEntries(Object.entries(all).map(([path, value]) => [path, new Blob([JSON.stringify(value)])])),
    );
    expect(specialTokensOf(await readTokenizerConfig(given))).toEqual(special);
    const read = await loadHuggingFace(given);
    for (const { text, ids, decoded } of texts) {
      expect(read.encode(text, undefined, 100).ids, text).toEqual(ids);
      expect(read.decode(ids), text).toBe(decoded);
    }
  });

test('JSON as Python writes it: numbers that JSON does not have, and strings that look like them', () => {
  const text = '{"a": Infinity, "b": [-Infinity, NaN], "NaN": "Infinity \\" NaN", "c": 1}';
  expect(parseJson(text, 'a.json')).toEqual({ a: Infinity, b: [-Infinity, NaN], NaN: 'Infinity " NaN', c: 1 });
  expect(() => parseJson('{"a": Infinit}', 'a.json')).toThrow('a.json is not JSON');
});

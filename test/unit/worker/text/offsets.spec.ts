// Where in a text each token stands, against Hugging Face's tokenizers in Python: `test/goldens/offsets/make.py`.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';
import { loadHuggingFace, type HuggingFaceTokenizer } from '../../../../src/worker/text/hugging-face.ts';
import type { Encoding } from '../../../../src/worker/text/tokenizer.ts';
import { createTestContext } from '../../../../src/worker.ts';
import { stubSession } from '../../support/stub-session.ts';

const read = (name: string): Buffer =>
  gunzipSync(readFileSync(new URL(`../../../goldens/offsets/${name}.gz`, import.meta.url)));

interface Windows {
  readonly text: string;
  readonly pair: string | null;
  readonly side: 'left' | 'right';
  readonly length: number;
  readonly stride: number;
  readonly windows: readonly string[];
}
const goldens = JSON.parse(read('offsets.json').toString()) as {
  readonly texts: readonly string[];
  readonly kinds: Readonly<
    Record<
      string,
      {
        readonly tokenizer: object;
        readonly digests: string;
        readonly examples: Readonly<Record<string, readonly (readonly number[])[]>>;
        readonly windows: readonly Windows[];
      }
    >
  >;
};
const charsmap = read('charsmap').toString('base64');

async function tokenizerOf(json: object, config: object = {}): Promise<HuggingFaceTokenizer> {
  const files = {
    'tokenizer.json': JSON.stringify(json).replace('"charsmap"', JSON.stringify(charsmap)),
    'tokenizer_config.json': JSON.stringify(config),
  };
  return await loadHuggingFace(createTestContext({ session: stubSession([], [], () => ({})), files }).files);
}

/** Returns what Python's encoding has: ids, texts, offsets in code points, words. */
function answer({ ids, spans }: Encoding, texts: readonly string[]): readonly (readonly number[])[] {
  // The number of code points before each UTF-16 unit.
  const counts = texts.map((text) => {
    const before: number[] = [];
    let count = 0;
    for (const character of text) {
      for (let unit = 0; unit < character.length; unit++) before.push(count);
      count++;
    }
    return [...before, count];
  });
  return ids.map((id, at) => {
    const span = spans![at];
    if (!span) return [id, -1, -1, -1, -1];
    const { text, start, end, word } = span;
    return [id, text, counts[text]![start]!, counts[text]![end]!, word];
  });
}

const digest = (tokens: readonly (readonly number[])[]): string =>
  createHash('sha256')
    .update(tokens.map((token) => token.join(',')).join(';'))
    .digest('hex')
    .slice(0, 8);

for (const [name, { tokenizer: json, digests, examples, windows }] of Object.entries(goldens.kinds)) {
  test(`2,000 texts: ${name}`, async () => {
    const tokenizer = await tokenizerOf(json);
    for (const [at, example] of Object.entries(examples)) {
      const text = goldens.texts[Number(at)]!;
      expect(answer(tokenizer.locate(text, Infinity), [text]), text).toEqual(example);
    }
    const wrong = goldens.texts.filter((text, at) => {
      const located = tokenizer.locate(text, Infinity);
      // The ids alone are made by fewer steps, which a tenth of the texts will show.
      if (at % 10 === 0) expect(tokenizer.encode(text, undefined, Infinity).ids).toEqual(located.ids);
      return digest(answer(located, [text])) !== digests.slice(8 * at, 8 * at + 8);
    });
    expect(wrong).toEqual([]);
  });

  test(`windows: ${name}`, async () => {
    for (const { text, pair, side, length, stride, windows: expected } of windows) {
      const tokenizer = await tokenizerOf(json, { truncation_side: side });
      const found = tokenizer.windows(text, pair ?? undefined, length, stride);
      if (pair === null) {
        expect(tokenizer.locate(text, length)).toEqual({ ...found[0], isTruncated: found.length > 1 });
      }
      const texts = pair === null ? [text] : [text, pair];
      expect(found.map((window) => digest(answer(window, texts)))).toEqual(expected);
    }
  });
}

test('a model that does not name its type', async () => {
  for (const kind of ['bert', 'roberta', 'xlm-r']) {
    const { tokenizer: json, digests } = goldens.kinds[kind]!;
    const { model } = json as { readonly model: object };
    const tokenizer = await tokenizerOf({ ...json, model: { ...model, type: undefined } });
    for (const [at, text] of goldens.texts.slice(0, 50).entries())
      expect(digest(answer(tokenizer.locate(text, Infinity), [text]))).toBe(digests.slice(8 * at, 8 * at + 8));
  }
});

// By tokenizers 0.22 in Python.
test("what JavaScript's replace has signs for is inserted as it is", async () => {
  const tokenizer = await tokenizerOf({
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'Replace', pattern: { String: 'a' }, content: '$&$1' },
        { type: 'Prepend', prepend: '$$' },
      ],
    },
    pre_tokenizer: { type: 'Metaspace', replacement: '$', prepend_scheme: 'always', split: true },
    model: { type: 'BPE', unk_token: '<unk>', vocab: { '<unk>': 0, $: 1, '&': 2, 1: 3, b: 4, c: 5 }, merges: [] },
  });
  expect(tokenizer.encode('ab c', undefined, Infinity).ids).toEqual([1, 1, 1, 2, 1, 3, 4, 1, 5]);
});

test('tokenizers that are not supported', async () => {
  const { tokenizer } = goldens.kinds['llama']! as { readonly tokenizer: { readonly model: object } };
  const prefixed = { ...tokenizer, model: { ...tokenizer.model, continuing_subword_prefix: '##' } };
  await expect(tokenizerOf(prefixed)).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('BPE with a continuing_subword_prefix'),
  });
  for (const precompiled_charsmap of ['', '####', 'AAAA', 'BAAAAA==', null]) {
    const damaged = { ...tokenizer, normalizer: { type: 'Precompiled', precompiled_charsmap } };
    await expect(tokenizerOf(damaged)).rejects.toMatchObject({ code: 'model-format' });
  }
  const split = { ...tokenizer, pre_tokenizer: { type: 'Punctuation', behavior: 'Doubled' } };
  await expect(tokenizerOf(split)).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringContaining('MergedWithPrevious'),
  });
});

test('the time for a text does not grow with the square of its length, and windows are limited', async () => {
  for (const kind of ['bert, added tokens', 'xlm-r, added tokens']) {
    const tokenizer = await tokenizerOf(goldens.kinds[kind]!.tokenizer);
    for (const part of [' ', 'é', '<left>  ', '<both> ']) {
      // With it, each takes from ten seconds to minutes.
      const encoding = tokenizer.locate(part.repeat(80_000 / part.length), Infinity);
      expect(encoding.spans).toHaveLength(encoding.ids.length);
    }
  }
  const tokenizer = await tokenizerOf(goldens.kinds['bert']!.tokenizer);
  expect(() => tokenizer.windows('a '.repeat(40_000), undefined, 12, 9)).toThrow('and the limit is 2048');
});

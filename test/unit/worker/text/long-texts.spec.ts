import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import { findCutPoints } from '../../../../src/worker/text/cut-points.ts';
import { loadHuggingFace } from '../../../../src/worker/text/hugging-face.ts';
import { MAX_TEXT_LENGTH, MAX_PIECE_LENGTH, MAX_MARKS } from '../../../../src/worker/text/limits.ts';
import type { TextTokenizer } from '../../../../src/worker/text/tokenizer.ts';
import { TokenStream } from '../../../../src/worker/text/token-stream.ts';
import { words } from '../../../../src/worker/text/torchserve.ts';
import { createTestContext } from '../../../../src/worker.ts';
import { stubSession } from '../../support/stub-session.ts';

type Json = Record<string, unknown>;
const read = (path: string): string => readFileSync(new URL(`../../../models/text/${path}`, import.meta.url), 'utf8');

/** By Hugging Face's tokenizers in Python, which see each text whole: `test/models/text/long.py`. */
const goldens = JSON.parse(read('long.json')) as {
  readonly texts: Readonly<Record<string, { readonly part: string; readonly count: number }>>;
  readonly variants: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly cases: readonly {
    kind: string;
    variant: string;
    text: string;
    tokens: number;
    sha256: string;
    first: number[];
    last: number[];
  }[];
};
const charsmap = gunzipSync(readFileSync(new URL('../../../goldens/offsets/charsmap.gz', import.meta.url))).toString(
  'base64',
);
const session = stubSession([], [], () => ({}));
const jsonOf = (kind: string, steps: Json = {}): Json => ({
  ...(JSON.parse(read(`${kind}/tokenizer.json`)) as Json),
  post_processor: null,
  ...steps,
});
const tokenizerOf = async (json: Json, config: Json = {}): Promise<TextTokenizer> =>
  await loadHuggingFace(
    createTestContext({
      session,
      files: { 'tokenizer.json': JSON.stringify(json), 'tokenizer_config.json': JSON.stringify(config) },
    }).files,
  );
/** A tokenizer of the same steps that cuts nothing: it has one more added token, with a space. */
const uncut = (json: Json): Json => ({
  ...json,
  added_tokens: [
    ...((json['added_tokens'] as Json[] | undefined) ?? []),
    { id: 1, content: '\u0007 \u0007', special: true },
  ],
});
const ids = (tokenizer: TextTokenizer, text: string, maxLength = Infinity): readonly number[] =>
  tokenizer.encode(text, undefined, maxLength).ids;

for (const { kind, variant, text, tokens, sha256, first, last } of goldens.cases) {
  test(`as Hugging Face's tokenizers: ${kind}, ${variant}: ${text}`, async () => {
    const json = jsonOf(kind, goldens.variants[kind]![variant]!);
    const { part, count } = goldens.texts[text]!;
    const all = ids(await tokenizerOf(json), part.repeat(count));
    expect([all.length, all.slice(0, 8), all.slice(-8)]).toEqual([tokens, first, last]);
    expect(createHash('sha256').update(all.join(',')).digest('hex')).toBe(sha256);
    expect(ids(await tokenizerOf(json), part.repeat(count), 100)).toEqual(all.slice(0, 100));
    const left = await tokenizerOf(json, { truncation_side: 'left' });
    expect(ids(left, part.repeat(count), 100)).toEqual(all.slice(-100));
  });
}

/** Texts of words, separators of all kinds, and the special tokens. */
const FRAGMENTS = [
  ' ',
  ' ',
  ' ',
  ' ',
  '  ',
  '\n',
  '\t',
  ',',
  '.',
  "'s",
  '-',
  '。',
  '，',
  '…',
  '(',
  ')',
  '[CLS]',
  '[SEP',
  '[UNK]',
  '<s>',
  '</s>',
  '<pad>',
  '▁',
  'a',
  'I',
  'hello',
  'World',
  'ΣΑΣ',
  'Σ',
  'é',
  'e\u0301',
  '\u0301',
  'İ',
  'ß',
  'ﬁ',
  '½',
  '⑴',
  'ﹰ',
  'क़',
  'か\u3099',
  '天',
  '天气',
  '𠀀',
  '한',
  'ก็',
  '😀',
  '☃',
  '\u200b',
  '\u00a0',
  '\ufeff',
  '\u00ad',
  '7',
  '2024',
];
const tricky = fc
  .array(fc.constantFrom(...FRAGMENTS), { minLength: 50, maxLength: 150 })
  .map((parts) => parts.join(''));

const BERT = {
  type: 'BertNormalizer',
  clean_text: true,
  handle_chinese_chars: true,
  strip_accents: null,
  lowercase: true,
};
const PIPELINES: Readonly<Record<string, readonly [string, Json]>> = {
  'word-piece': ['word-piece', {}],
  'word-piece, cased': ['word-piece', { normalizer: { ...BERT, lowercase: false } }],
  'word-piece, NFKC': ['word-piece', { normalizer: { type: 'Sequence', normalizers: [{ type: 'NFKC' }, BERT] } }],
  'word-piece, split at white space': ['word-piece', { pre_tokenizer: { type: 'WhitespaceSplit' } }],
  'byte-level': ['byte-level-bpe', {}],
  'byte-level, NFC': ['byte-level-bpe', { normalizer: { type: 'NFC' } }],
  'byte-level, NFKD and no accents': [
    'byte-level-bpe',
    {
      normalizer: {
        type: 'Sequence',
        normalizers: [
          { type: 'NFKD' },
          { type: 'StripAccents' },
          { type: 'Strip', strip_left: false, strip_right: true },
        ],
      },
    },
  ],
  'byte-level with a space before': [
    'byte-level-bpe',
    { pre_tokenizer: { type: 'ByteLevel', add_prefix_space: true, use_regex: true } },
  ],
  ...Object.fromEntries(
    ['digits', 'llama 3', 'qwen', 'gpt-4o'].map((name) => [
      `byte-level, ${name}`,
      ['byte-level-bpe', goldens.variants['byte-level-bpe']![name]!] as const,
    ]),
  ),
  unigram: ['unigram', {}],
  'unigram, as sentencepiece': [
    'unigram',
    {
      normalizer: {
        type: 'Sequence',
        normalizers: [
          { type: 'Precompiled', precompiled_charsmap: charsmap },
          { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' },
        ],
      },
    },
  ],
  'unigram, split': [
    'unigram',
    {
      pre_tokenizer: {
        type: 'Sequence',
        pretokenizers: [{ type: 'WhitespaceSplit' }, { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always' }],
      },
    },
  ],
};

for (const [name, [kind, steps]] of Object.entries(PIPELINES)) {
  test(`pieces have the tokens of the whole text: ${name}`, async () => {
    const json = jsonOf(kind, steps);
    const places = findCutPoints(json, {});
    expect(places).toBeDefined();
    const whole = await tokenizerOf(uncut(json));
    // Each place is a cut of its own, which pieces of a thousand characters would not try.
    let cuts = 0;
    fc.assert(
      fc.property(tricky, fc.integer({ min: 0, max: 150 }), (text, from) => {
        const search = new RegExp(places!);
        search.lastIndex = Math.min(from, text.length);
        const place = search.exec(text)?.index ?? text.length;
        if (place > 0 && place < text.length) cuts += 1;
        assert.deepEqual([...ids(whole, text.slice(0, place)), ...ids(whole, text.slice(place))], ids(whole, text));
      }),
      { numRuns: 300, seed: 20261122 },
    );
    // In the other runs, the rest of the text has no place to cut.
    expect(cuts).toBeGreaterThan(75);
  });
}

const splitAndBytes = (expression: string, behavior = 'Isolated'): Json => ({
  type: 'Sequence',
  pretokenizers: [
    { type: 'Split', pattern: { Regex: expression }, behavior, invert: false },
    { type: 'ByteLevel', add_prefix_space: false, use_regex: false },
  ],
});

test('what looks across words is not cut', () => {
  const added = (token: Json): Json => ({ added_tokens: [{ id: 1, ...token }] });
  for (const [kind, steps, config = {}] of [
    ['word-piece', { pre_tokenizer: null }],
    ['word-piece', { pre_tokenizer: { type: 'Split', pattern: { Regex: 'a b' }, behavior: 'Isolated' } }],
    ['word-piece', { model: { type: 'WordPiece', vocab: {}, fuse_unk: true } }],
    ['word-piece', { normalizer: { type: 'Replace', pattern: { Regex: 'a b' }, content: '' } }],
    ['word-piece', { normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '' } }],
    ['word-piece', added({ content: 'New York' })],
    ['word-piece', added({ content: '▁x' })],
    ['word-piece', added({ content: 'mask', rstrip: true })],
    ['word-piece', {}, { remove_space: true }],
    ['byte-level-bpe', { normalizer: { type: 'Prepend', prepend: '▁' } }],
    ['byte-level-bpe', { normalizer: { type: 'Strip', strip_left: true, strip_right: false } }],
    ['byte-level-bpe', { pre_tokenizer: { type: 'ByteLevel', use_regex: false } }],
    [
      'byte-level-bpe',
      {
        pre_tokenizer: {
          type: 'Sequence',
          pretokenizers: [{ type: 'Digits' }, { type: 'ByteLevel', use_regex: false }],
        },
      },
    ],
    ['byte-level-bpe', { pre_tokenizer: splitAndBytes(String.raw`\p{L}+ \p{L}+|\s+`) }],
    ['byte-level-bpe', { pre_tokenizer: splitAndBytes(String.raw` ?\p{L}+|\s+`, 'MergedWithPrevious') }],
    [
      'unigram',
      {
        model: {
          type: 'Unigram',
          vocab: [
            ['▁', 0],
            ['▁New▁York', 0],
          ],
        },
      },
    ],
    ['unigram', { model: { type: 'Unigram', vocab: [['a', 0]] } }],
    ['unigram', { pre_tokenizer: { type: 'WhitespaceSplit' } }],
  ] as readonly (readonly [string, Json, Json?])[])
    expect(findCutPoints(jsonOf(kind, steps), config), JSON.stringify(steps)).toBeUndefined();
});

test('a text is read as far as its tokens are wanted, from either side', () => {
  const text = 'word '.repeat(1_000_000);
  for (const side of ['left', 'right'] as const) {
    let read = 0;
    const places = /(?<=[a-z])(?= )/gu;
    const stream = new TokenStream(
      text,
      places,
      (piece) => ((read += piece.length), [...piece.matchAll(/word/g)].map((_, at) => at)),
      side,
    );
    expect(stream.take(512)).toHaveLength(512);
    expect(read).toBeLessThan(5_000);
  }
});

test('a pair is truncated as if both texts were tokenized whole', async () => {
  const json = jsonOf('word-piece');
  const [cut, whole] = [await tokenizerOf(json), await tokenizerOf(uncut(json))];
  const sizes = fc.integer({ min: 0, max: 3000 });
  fc.assert(
    fc.property(sizes, sizes, fc.integer({ min: 0, max: 1200 }), (first, second, room) => {
      const texts = ['good day '.repeat(first / 2), 'night '.repeat(second)] as const;
      expect(cut.encode(...texts, room)).toEqual(whole.encode(...texts, room));
    }),
    { numRuns: 30, seed: 20261122 },
  );
});

test('5 MB of one letter, of spaces and of words are answered or refused', async () => {
  const limited = { code: 'invalid-input', message: expect.stringContaining(String(MAX_PIECE_LENGTH)) };
  for (const [kind, text, expected] of [
    ['word-piece', 'a'.repeat(5e6), 1],
    ['word-piece', '天'.repeat(5e6), 512],
    ['word-piece', 'hello world '.repeat(4e5), 512],
    ['word-piece', 'aGVsbG8/d29y+GQ'.repeat(3e5), 512],
    ['word-piece', ' '.repeat(5e6), limited],
    ['byte-level-bpe', 'a'.repeat(5e6), limited],
    ['byte-level-bpe', 'hello world '.repeat(4e5), 512],
    ['byte-level-bpe', '今天天气很好。'.repeat(7e5), 512],
    ['unigram', 'a'.repeat(5e6), limited],
    ['unigram', 'hello world '.repeat(4e5), 512],
  ] as const) {
    const tokenizer = await tokenizerOf(jsonOf(kind));
    const started = process.cpuUsage().user;
    if (typeof expected === 'number')
      expect(ids(tokenizer, text, 512), `${kind} ${text.slice(0, 9)}`).toHaveLength(expected);
    else expect(() => ids(tokenizer, text, 512)).toThrow(expect.objectContaining(expected));
    expect((process.cpuUsage().user - started) / 1000, `${kind} ${text.slice(0, 9)}`).toBeLessThan(5_000);
  }
});

test('a limit’s error has both numbers', async () => {
  const tokenizer = await tokenizerOf(jsonOf('word-piece'));
  for (const [text, limit] of [
    ['a '.repeat(MAX_TEXT_LENGTH / 2 + 1), MAX_TEXT_LENGTH],
    [`e${'\u0301\u0316'.repeat(MAX_MARKS)}`, MAX_MARKS],
  ] as const)
    expect(() => ids(tokenizer, text, 8)).toThrow(
      expect.objectContaining({ code: 'invalid-input', message: expect.stringContaining(String(limit)) }),
    );
});

test("TorchServe's pipeline takes a time in proportion to the text", () => {
  const started = process.cpuUsage().user;
  expect(words('<'.repeat(2e6))).toEqual([]);
  expect(words(`${'<'.repeat(1e6)}> a`)).toEqual(['a']);
  expect(words('a<'.repeat(1e6))).toHaveLength(1);
  expect(words(`${'&a'.repeat(1e6)};`)).toHaveLength(1);
  expect((process.cpuUsage().user - started) / 1000).toBeLessThan(10_000);
});

test("TorchServe's tags end on their line, and the last one may be open", () => {
  expect(words('a <b>c</b> <d e')).toEqual(['a', 'c', 'd', 'e']);
  expect(words('<a\n>b <c>d')).toEqual(['a', 'b', 'd']);
  expect(words('x &lt;b&gt; y<1>2&#65; z')).toEqual(['x', 'b', 'y2', 'z']);
});

for (const [key, steps] of [
  ['model', { model: [] }],
  ['model.vocab', { model: { type: 'Unigram', vocab: { length: 1e9 } } }],
  ['model.vocab[0]', { model: { type: 'Unigram', vocab: [null] } }],
  ['model.vocab["a"]', { model: { type: 'WordPiece', vocab: { a: 0.5 } } }],
  ['model.vocab["b"]', { model: { type: 'WordPiece', vocab: { a: 0, b: -1 } } }],
  ['model.vocab["a"]', { model: { type: 'WordPiece', vocab: { a: 2 ** 31 } } }],
  ['model.unk_id', { model: { type: 'Unigram', vocab: [['a', 0]], unk_id: 1 } }],
  ['model.unk_token', { model: { type: 'BPE', vocab: {}, merges: [], unk_token: 7 } }],
  ['model.max_input_chars_per_word', { model: { type: 'WordPiece', vocab: {}, max_input_chars_per_word: 'a' } }],
  ['model.merges', { model: { type: 'BPE', vocab: {} } }],
  ['model.merges[1]', { model: { type: 'BPE', vocab: { a: 0, b: 1, ab: 2 }, merges: ['a b', 'ab c'] } }],
  ['model.merges[0]', { model: { type: 'BPE', vocab: { a: 0, b: 1 }, merges: [['a', 'b']] } }],
  ['model.merges[0]', { model: { type: 'BPE', vocab: { a: 0, b: 1, ab: 2 }, merges: ['a b c'] } }],
  ['model.merges[0]', { model: { type: 'BPE', vocab: { a: 0 }, merges: [null] } }],
  ['added_tokens[0].id', { added_tokens: [{ id: -1, content: 'x' }] }],
  ['added_tokens[0].id', { added_tokens: [{ id: 2 ** 31, content: 'x' }] }],
  ['truncation.max_length', { truncation: { max_length: 'a' } }],
  ['padding.strategy.Fixed', { padding: { strategy: { Fixed: 1e12 }, pad_id: 0, pad_type_id: 0 } }],
  ['padding.pad_to_multiple_of', { padding: { pad_to_multiple_of: 1e12, pad_id: 0, pad_type_id: 0 } }],
  [
    'every id of post_processor',
    { post_processor: { type: 'BertProcessing', cls: ['[CLS]', 2], sep: ['[SEP]', null] } },
  ],
  [
    'every id of post_processor',
    {
      post_processor: {
        type: 'TemplateProcessing',
        single: [{ Sequence: { id: 'A', type_id: 0.5 } }],
        pair: [],
        special_tokens: {},
      },
    },
  ],
  // What would cost minutes, or gigabytes, with each text.
  ['a token of model.vocab', { model: { type: 'Unigram', vocab: [['a'.repeat(1001), 0]] } }],
  ['a token of model.vocab', { model: { type: 'WordPiece', vocab: { ['a'.repeat(1001)]: 0 } } }],
  ...(
    [
      ['normalizer', 'normalizers'],
      ['pre_tokenizer', 'pretokenizers'],
      ['decoder', 'decoders'],
      ['post_processor', 'processors'],
    ] as const
  ).map(([kind, key]) => {
    const steps = Array.from({ length: 100 }, () => ({ type: 'ByteLevel' }));
    return [kind, { [kind]: { type: 'Sequence', [key]: steps } }] as const;
  }),
  [
    'post_processor',
    {
      post_processor: {
        type: 'TemplateProcessing',
        single: Array.from({ length: 1000 }, () => ({ SpecialToken: { id: 'a', type_id: 0 } })),
        pair: [],
        special_tokens: { a: { ids: [1, 2] } },
      },
    },
  ],
  [
    'post_processor',
    {
      post_processor: {
        type: 'TemplateProcessing',
        single: [],
        pair: Array.from({ length: 2 }, () => ({ Sequence: { id: 'B', type_id: 0 } })),
        special_tokens: {},
      },
    },
  ],
  ['padding.pad_id', { padding: { pad_id: 0.5, pad_type_id: 0 } }],
] as const) {
  test(`a tokenizer.json with a wrong ${key}: ${JSON.stringify(steps).slice(0, 120)}`, async () => {
    await expect(tokenizerOf(jsonOf('word-piece', steps))).rejects.toMatchObject({
      code: 'model-format',
      message: expect.stringContaining(`tokenizer.json: ${key}: expected`),
    });
  });
}

test('what a tokenizer.json has that is not known is named', async () => {
  for (const [words_, steps] of [
    ['the normalizer "Magic"', { normalizer: { type: 'Magic' } }],
    ['the pre_tokenizer "Magic"', { pre_tokenizer: { type: 'Magic' } }],
    ['the decoder "Magic"', { decoder: { type: 'Magic' } }],
    ['a model that TabServe does not support: Magic', { model: { type: 'Magic', vocab: {} } }],
    ['a model that TabServe does not support: WordLevel', { model: { type: 'WordLevel', vocab: {}, unk_token: 'a' } }],
  ] as const)
    await expect(tokenizerOf(jsonOf('word-piece', steps))).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining(words_),
    });
});

test('a text that needs an unknown token which the model does not have is refused, as in Python', async () => {
  const pre_tokenizer = { type: 'Whitespace' };
  for (const model of [
    { type: 'WordPiece', vocab: { a: 0 }, unk_token: '[UNK]' },
    { type: 'BPE', vocab: { a: 0 }, merges: [], unk_token: '<unk>' },
    { type: 'Unigram', vocab: [['a', 0]], unk_id: null },
  ]) {
    const tokenizer = await tokenizerOf({ pre_tokenizer, model });
    expect(ids(tokenizer, 'a a')).toEqual([0, 0]);
    expect(() => ids(tokenizer, 'a b')).toThrow(
      expect.objectContaining({ code: 'invalid-input', message: expect.stringContaining('has no token for what') }),
    );
  }
  // Without a name for it, byte-pair encoding leaves it out.
  const tokenizer = await tokenizerOf({ pre_tokenizer, model: { type: 'BPE', vocab: { a: 0 }, merges: [] } });
  expect(ids(tokenizer, 'ab b a')).toEqual([0, 0]);
});

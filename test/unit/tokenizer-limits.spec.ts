import { expect, test } from '@playwright/test';
import { checkPattern } from '../../src/text/check-pattern.ts';
import { checkTokenizer } from '../../src/text/check-tokenizer.ts';
import { loadHuggingFace } from '../../src/text/hugging-face.ts';
import { createFiles } from '../../src/models/files.ts';

type Json = Record<string, unknown>;

const tokenizer = (more: Json = {}): Json => ({
  normalizer: null,
  pre_tokenizer: { type: 'Whitespace' },
  added_tokens: [],
  model: { type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', vocab: { '[UNK]': 0, a: 1, '##a': 2 } },
  ...more,
}); // prettier-ignore
const replace = (pattern: Json, content: string): Json => ({ type: 'Replace', pattern, content });
const sequence = (...normalizers: readonly Json[]): Json => ({ normalizer: { type: 'Sequence', normalizers } });
const refusal = (code: string, words: string) => expect.objectContaining({ name: 'TabServeError', code, message: expect.stringContaining(words) }); // prettier-ignore

/** The patterns of published tokenizers, as their `tokenizer.json` has them, and the fewest characters that each matches. */
const PUBLISHED: Readonly<Record<string, readonly [string, number]>> = {
  'GPT-2': [String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`, 1],
  CLIP: [String.raw`'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+`, 1],
  Bloom: [' ?[^(\\s|[.,!?…。，、।۔،])]+', 1],
  'Llama 3': [String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, 1],
  'GPT-4': [String.raw`'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`, 1],
  'GPT-4o': [String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`, 1],
  'Qwen 2': [String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, 1],
  'DeepSeek V3': [String.raw`[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_${'`'}{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, 1],
  'DeepSeek, Chinese': ['[一-龥\u3040-ゟ゠-ヿ]+', 1],
  'Falcon, digits': ['[0-9][0-9][0-9]', 3],
  'digits in threes': [String.raw`(?=(\d{3})+(?!\d))`, 0],
  'XLM-RoBERTa and T5': [' {2,}', 2],
  'white space': [String.raw`\s+`, 1],
}; // prettier-ignore

for (const [name, [pattern, least]] of Object.entries(PUBLISHED))
  test(`the pattern of ${name} passes, and the library reads it`, async () => {
    expect(checkPattern('x', pattern)).toBe(least);
    const json = tokenizer({ pre_tokenizer: { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated' } });
    const loaded = await loadHuggingFace(createFiles({ 'tokenizer.json': JSON.stringify(json) }));
    expect(loaded.encode('a a', undefined, 8).ids.length).toBeGreaterThan(0);
  });

for (const pattern of [
  '(a+)+$',
  '(a|aa)+$',
  '(a*)*b',
  '(?:a?){30}b',
  '((a{1,3})){2,}',
  '(?i:(?<x>a+))*',
  '([^b]+c?)*',
  'a{1,9}+b',
  'a+*b',
  `${'a?'.repeat(30)}${'a'.repeat(30)}`,
  `${'(a|aa)'.repeat(30)}b`,
  'a*a*a*a*b',
  'a{1,50}a{1,50}a{1,50}b',
  '[[](a+)+[]]',
  '[a](x+)+',
  String.raw`\[(a+)+\]`,
  String.raw`[\]](a+)+`,
  '(?=(a+)+b)',
])
  test(`the pattern ${pattern.slice(0, 20)} is refused in every step`, () => {
    for (const step of [
      { normalizer: replace({ Regex: pattern }, '') },
      { pre_tokenizer: { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated' } },
      {
        pre_tokenizer: {
          type: 'Sequence',
          pretokenizers: [{ type: 'Sequence', pretokenizers: [{ type: 'Split', pattern: { Regex: pattern } }] }],
        },
      },
    ])
      // prettier-ignore
      expect(() => checkTokenizer(tokenizer(step))).toThrow(refusal('unsupported', 'it may take endless time'));
  });

test('what may cost more than a text is worth', () => {
  const words = (count: number, length: number): Json => Object.fromEntries(Array.from({ length: count }, (_, at) => [String(at).padEnd(length, 'x'), at])); // prettier-ignore
  const unigram = (lengths: readonly number[]): Json => ({ model: { type: 'Unigram', unk_id: 0, vocab: [['<unk>', 0], ...lengths.map((length) => ['a'.repeat(length), -1])] } }); // prettier-ignore
  const each = 'a'.repeat(64);
  for (const [more, why] of [
    [sequence(replace({ String: 'a' }, each), replace({ String: 'a' }, 'aa')), 'up to 128 times longer'],
    [
      { ...sequence(replace({ String: 'a' }, each)), pre_tokenizer: { type: 'Metaspace', replacement: 'ab' } },
      'up to 128 times longer',
    ],
    [{ normalizer: replace({ Regex: 'a*' }, each) }, 'up to 65 times longer'],
    [{ normalizer: replace({ Regex: String.raw`\b` }, each) }, 'up to 65 times longer'],
    [{ normalizer: replace({ String: '' }, each) }, 'up to 65 times longer'],
    [{ normalizer: replace({ String: 'a' }, '$`') }, 'without $'],
    [{ normalizer: replace({ Regex: 'a'.repeat(2001) }, '') }, 'has 2001 characters'],
    [sequence(...Array.from({ length: 101 }, () => ({ type: 'Prepend', prepend: 'a' }))), 'normalizer has 101 steps'],
    [
      { added_tokens: Array.from({ length: 5000 }, (_, id) => ({ id, content: 'a'.repeat(200) + id })) },
      'characters together; there may be 1000000',
    ],
    [unigram(Array.from({ length: 300 }, (_, at) => at + 1)), '276 tokens of more than 24 characters; there may be 8'],
    [{ model: { type: 'BPE', merges: [], vocab: words(9, 600) } }, '9 tokens of more than 512 characters'],
    [{ model: { type: 'WordPiece', vocab: { a: -1 } } }, 'model.vocab["a"] must be an integer from 0 on'],
  ] as const)
    // prettier-ignore
    expect(() => checkTokenizer(tokenizer(more as Json))).toThrow(refusal('model-format', why));
  checkTokenizer(tokenizer(sequence(replace({ Regex: ' {2,}' }, '▁'), replace({ String: '``' }, '"'), replace({ Regex: String.raw`\s+` }, ' ')))); // prettier-ignore
  checkTokenizer(tokenizer(unigram(Array.from({ length: 24 }, (_, at) => at + 1))));
  checkTokenizer(tokenizer({ added_tokens: Array.from({ length: 60_000 }, (_, id) => ({ id, content: `<t${id}>` })) }));
});

test('a text of 10,000 letters under the worst allowed Unigram vocabulary', async () => {
  const lengths = [...Array.from({ length: 24 }, (_, at) => at + 1), ...Array.from({ length: 8 }, (_, at) => at + 25)];
  const vocab = [['<unk>', 0], ...lengths.map((length) => ['a'.repeat(length), -length])];
  const json = tokenizer({ pre_tokenizer: null, model: { type: 'Unigram', unk_id: 0, vocab } });
  const { encode } = await loadHuggingFace(createFiles({ 'tokenizer.json': JSON.stringify(json) }));
  const started = process.cpuUsage().user;
  expect(encode('a'.repeat(10_000), undefined, 512).ids).toHaveLength(Math.ceil(10_000 / 32));
  expect((process.cpuUsage().user - started) / 1000).toBeLessThan(10_000);
});

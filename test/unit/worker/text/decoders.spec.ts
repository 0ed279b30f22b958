// Decoders against Hugging Face's in Python: `test/goldens/tokenizers/make.py`.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { AlignedText } from '../../../../src/worker/text/encoding/aligned-text.ts';
import { createNormalizer } from '../../../../src/worker/text/encoding/normalize.ts';
import { createDecoder, type DecoderJson } from '../../../../src/worker/text/decoders.ts';

const { decoders } = JSON.parse(
  readFileSync(new URL('../../../goldens/tokenizers/expected.json', import.meta.url), 'utf8'),
) as {
  readonly decoders: readonly {
    readonly decoder: DecoderJson;
    readonly rows: readonly (readonly [tokens: readonly string[], text: string])[];
  }[];
};

for (const { decoder, rows } of decoders)
  test(`the texts of tokens: ${JSON.stringify(decoder)}`, () => {
    expect(rows.length).toBeGreaterThan(10);
    const decode = createDecoder(decoder);
    expect(rows.map(([tokens]) => decode(tokens).join(''))).toEqual(rows.map(([, text]) => text));
  });

test('replacements that double a text thirty times end in an error, and not in a gigabyte', () => {
  const doubling = (type: string) => ({ type, pattern: { String: 'a' }, content: 'aa' });
  const thirty = Array.from({ length: 30 }, () => doubling('Replace'));
  const tooLong = expect.objectContaining({ code: 'invalid-input', message: expect.stringContaining('1000000') });
  const decode = createDecoder({ type: 'Sequence', decoders: thirty });
  expect(() => decode(['a', 'b'])).toThrow(tooLong);
  const normalize = createNormalizer({ type: 'Sequence', normalizers: thirty });
  expect(() => normalize(AlignedText.of('aba'))).toThrow(tooLong);
  // One that is long, and many places for it.
  const long = createNormalizer({ type: 'Replace', pattern: { String: 'a' }, content: 'b'.repeat(100_000) });
  expect(() => long(AlignedText.of('a'.repeat(100_000)))).toThrow(tooLong);
  const prepend = createNormalizer({ type: 'Prepend', prepend: 'b'.repeat(1_000_000) });
  expect(() => prepend(AlignedText.of('a'))).toThrow(tooLong);
  expect(createNormalizer({ type: 'Sequence', normalizers: thirty.slice(0, 10) })(AlignedText.of('a')).length).toBe(
    1024,
  );
});

test('marks that a step adds are counted before they are sorted', () => {
  const marks = { type: 'Replace', pattern: { String: 'a' }, content: `a${'\u0301\u0323'.repeat(40_000)}` };
  const normalize = createNormalizer({ type: 'Sequence', normalizers: [marks, { type: 'NFC' }] });
  const message = expect.stringContaining('80000 combining marks');
  expect(() => normalize(AlignedText.of('a'))).toThrow(expect.objectContaining({ code: 'invalid-input', message }));
});

test('a decoder that is not known, and values of a wrong type', () => {
  const unknown = expect.objectContaining({ code: 'unsupported', message: expect.stringContaining('decoder "Magic"') });
  expect(() => createDecoder({ type: 'Magic' })).toThrow(unknown);
  expect(() => createDecoder({ type: 'Sequence', decoders: [{ type: 'Fuse' }, { type: 'Magic' }] })).toThrow(unknown);
  for (const [key, decoder] of [
    ['replacement', { type: 'Metaspace', replacement: 7 }],
    ['content', { type: 'Strip', start: 1, stop: 0 }],
    ['start', { type: 'Strip', content: ' ', start: '1', stop: 0 }],
    ['stop', { type: 'Strip', content: ' ', start: 1, stop: -1 }],
    ['content', { type: 'Replace', pattern: { String: 'a' }, content: null }],
    ['prefix', { type: 'WordPiece', prefix: [] }],
    ['pad_token', { type: 'CTC', pad_token: {} }],
  ] as const)
    expect(() => createDecoder(decoder as unknown as DecoderJson)).toThrow(
      expect.objectContaining({
        code: 'model-format',
        message: expect.stringContaining(`tokenizer.json: ${key} of the decoder ${decoder.type}: expected`),
      }),
    );
});

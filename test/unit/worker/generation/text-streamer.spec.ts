import { expect, test } from '@playwright/test';
import { TextStreamer } from '../../../../src/worker/generation/text-streamer.ts';
import { loadHuggingFace } from '../../../../src/worker/text/hugging-face.ts';
import type { Detokenizer } from '../../../../src/worker/text/tokenizer.ts';
import { generationFiles, GENERATION } from './models.ts';

const answer = (detokenizer: Detokenizer, tokens: readonly number[], stops: readonly string[] = []): string[] => {
  const text = new TextStreamer(detokenizer, stops);
  return [...tokens.map((token) => text.add(token)), text.end()];
};

for (const [name, { prompts }] of Object.entries(GENERATION))
  test(`the parts of an answer are the text that transformers decodes: ${name}`, async () => {
    const { detokenizer, tokensOf, encode } = await loadHuggingFace(generationFiles(name));
    for (const { prompt, input_ids, tokens, text } of prompts) {
      expect(encode(prompt, undefined, Infinity).ids).toEqual(input_ids);
      const parts = answer(detokenizer, tokens);
      expect(parts.join('')).toBe(text);
      // A text that is long enough for several windows.
      const words = `${'Tell me a story about the sea, naïve café 👋🏽 東京! '.repeat(9)}`;
      const ids = tokensOf(words, Infinity);
      const written = answer(detokenizer, ids);
      expect(written.join('')).toBe(detokenizer.join(ids.flatMap((id) => detokenizer.pieceOf(id) ?? [])));
      expect(written.filter((part) => /^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/.test(part))).toEqual([]);
    }
  });

/** The detokenizer of a vocabulary whose tokens are their own texts. */
const plain = (pieces: readonly string[], unsettled = 0): Detokenizer => ({
  pieceOf: (id) => pieces[id],
  join: (all) => all.join('').replaceAll(' .', unsettled > 0 ? '.' : ' .'),
  isByte: () => false,
  unsettled,
});

test('a stop string never appears in part, wherever tokens cut it; what only looked like one is given', () => {
  const pieces = ['a', 'b', 'ST', 'OP', 'S', 'T', 'O', 'xSTOPy'];
  const run = (ids: readonly number[], stops: readonly string[]): string[] => answer(plain(pieces), ids, stops);
  expect(run([0, 2, 3, 1], ['STOP'])).toEqual(['a', '', '', '', '']);
  expect(run([0, 2, 1], ['STOP'])).toEqual(['a', '', 'STb', '']);
  expect(run([0, 4, 4, 5, 6], ['STOP'])).toEqual(['a', '', 'S', '', '', 'STO']);
  expect(run([7, 0], ['STOP', 'yy'])).toEqual(['x', '', '']);
  expect(run([0, 4, 5], ['ST', 'STO'])).toEqual(['a', '', '', '']);
  // The earliest of several that are complete at once.
  expect(run([7], ['TOP', 'STOP'])).toEqual(['x', '']);
});

test('with clean_up_tokenization_spaces, a space waits for what follows it', () => {
  const parts = answer(plain(['Hello', ' .', ' ', 'you'], 4), [0, 2, 3, 1]);
  expect(parts.join('')).toBe('Hello you.');
});

test('bytes that are no character are one U+FFFD each, as in Hugging Face’s tokenizers', async () => {
  const files = generationFiles('llama');
  const { detokenizer } = await loadHuggingFace(files);
  const { model } = (await files.json('tokenizer.json')) as {
    readonly model: { readonly vocab: Record<string, number> };
  };
  const bytes = (...values: number[]): number[] =>
    values.map((value) => model.vocab[`<0x${value.toString(16).toUpperCase().padStart(2, '0')}>`]!);
  // By `tokenizers` 0.22 in Python.
  expect(answer(detokenizer, bytes(0xc3, 0xa9))).toEqual(['', '', 'é']);
  expect(answer(detokenizer, bytes(0xc3, 0xa9, 0xff)).join('')).toBe('\u{FFFD}\u{FFFD}\u{FFFD}');
  expect(answer(detokenizer, bytes(0xef, 0xbb, 0xbf)).join('')).toBe('\u{FEFF}');
});

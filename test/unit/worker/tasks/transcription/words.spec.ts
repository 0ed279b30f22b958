// When words were said, against transformers: `test/goldens/speech/make.py`.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { alignTokens, readAlignment } from '../../../../../src/worker/tasks/transcription/alignment.ts';
import { wordsOf } from '../../../../../src/worker/tasks/transcription/words.ts';

function readGoldens<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(`../../../../goldens/speech/${file}`, import.meta.url), 'utf8')) as T;
}

test('tokens were said when transformers says', () => {
  const cases = readGoldens<
    readonly {
      readonly heads: readonly [number, number][];
      readonly tokens: number;
      readonly steps: number;
      readonly counted: number;
      readonly first: number;
      readonly layers: readonly (readonly number[])[];
      readonly starts: readonly number[];
    }[]
  >('alignments.json');
  for (const { heads, tokens, steps, counted, first, layers, starts } of cases) {
    const dims = [1, 2, tokens + first, steps];
    const outputs = new Map(
      layers.map((data, layer) => [layer, { dtype: 'float32', dims, data: Float32Array.from(data) }] as const),
    );
    expect(alignTokens(outputs, { heads, width: 7 }, first, counted), `${tokens} tokens`).toEqual(starts);
  }
  expect(cases.length).toBeGreaterThan(4);
});

test('tokens are joined to the words of transformers', () => {
  const { parts, cases } = readGoldens<{
    readonly parts: readonly (readonly number[])[];
    readonly cases: readonly {
      readonly tokens: readonly number[];
      readonly language: string;
      readonly words: readonly { readonly text: string; readonly start: number; readonly end: number }[];
    }[];
  }>('words.json');
  const decode = (tokens: readonly number[]): string =>
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(tokens.flatMap((token) => parts[token]!)));
  for (const { tokens, language, words } of cases) {
    const heard = tokens.map((id, at) => ({ id, start: at, end: at + 1 }));
    expect(wordsOf(heard, language, decode), tokens.join()).toEqual(words);
  }
});

test('heads that the decoder does not have are refused', () => {
  const read = (alignment_heads: unknown, config = {}, layers = 2) =>
    readAlignment({ alignment_heads }, config, layers);
  expect(read([[1, 5]])).toEqual({ heads: [[1, 5]], width: 7 });
  for (const [heads, config, layers, message] of [
    [[[0, 0]], {}, 0, 'this export has no outputs "cross_attentions.0"'],
    [undefined, {}, 2, 'needs alignment_heads in generation_config.json'],
    [[[2, 0]], {}, 2, 'a list of [layer, head], with layers up to 1'],
    [[], {}, 2, 'alignment_heads is []'],
    [[[0, 0]], { median_filter_width: 4 }, 2, 'median_filter_width is 4; expected an odd number'],
  ] as const)
    expect(() => read(heads, config, layers), message).toThrow(message);
  const output = { dtype: 'float32', dims: [1, 1, 1, 1], data: new Float32Array(1) } as const;
  expect(() => alignTokens(new Map([[0, output]]), { heads: [[0, 3]], width: 7 }, 0, 1)).toThrow(
    'alignment_heads has head 3 of layer 0, which has 1',
  );
});

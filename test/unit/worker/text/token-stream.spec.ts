import { expect, test } from '@playwright/test';
import { TokenStream } from '../../../../src/worker/text/token-stream.ts';

/** Tokens are the words of a text that may be cut at its spaces; reports the pieces that were tokenized. */
function stream(side: 'left' | 'right', words: number): { tokens: TokenStream<string>; pieces: string[] } {
  const pieces: string[] = [];
  const text = Array.from({ length: words }, (_, at) => `w${at}`).join(' ');
  const tokens = new TokenStream(
    text,
    /(?= )/g,
    (piece) => {
      pieces.push(piece);
      return piece.split(' ').filter((word) => word !== '');
    },
    side,
  );
  return { tokens, pieces };
}

test('the last tokens of a text are read from its end, and no more of it than is needed', () => {
  const { tokens, pieces } = stream('left', 10_000);
  expect(tokens.take(3)).toEqual(['w9997', 'w9998', 'w9999']);
  expect(pieces).toHaveLength(1);
  expect(tokens.take(400).slice(0, 1)).toEqual(['w9600']);
  expect(tokens.done).toBe(false);
});

test('the first tokens of a text are read from its start', () => {
  const { tokens, pieces } = stream('right', 10_000);
  expect(tokens.take(3)).toEqual(['w0', 'w1', 'w2']);
  expect(pieces).toHaveLength(1);
  expect(tokens.hasMoreThan(9999)).toBe(true);
  expect(tokens.hasMoreThan(10_000)).toBe(false);
});

test('a text with fewer tokens gives all of them', () => {
  for (const side of ['left', 'right'] as const) expect(stream(side, 3).tokens.take(9)).toEqual(['w0', 'w1', 'w2']);
});

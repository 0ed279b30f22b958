// `truncate_encodings` of Hugging Face's tokenizers, on texts whose tokens are their letters.
import { expect, test } from '@playwright/test';
import { TokenStream } from '../../../../src/worker/text/token-stream.ts';
import { truncate, type Truncation } from '../../../../src/worker/text/truncate.ts';

const stream = (text: string, side: Truncation['side'] = 'right'): TokenStream<string> =>
  new TokenStream(text, undefined, (part) => [...part], side);

function truncated(
  first: string,
  second: string,
  room: number,
  strategy: Truncation['strategy'],
  side?: 'left',
): string {
  const [one, other] = truncate(stream(first, side), stream(second, side), room, strategy);
  return `${one.join('')}|${other!.join('')}`;
}

test('the longer text gets what the shorter one leaves; if both are long, each gets a half', () => {
  expect(truncated('abcdef', 'xy', 6, 'longest_first')).toBe('abcd|xy');
  expect(truncated('ab', 'uvwxyz', 6, 'longest_first')).toBe('ab|uvwx');
  expect(truncated('abcdef', 'uvw', 6, 'longest_first')).toBe('abc|uvw');
  // Of an odd room, the longer text gets the larger half; of equal texts, the second one.
  expect(truncated('abcdefg', 'uvwx', 5, 'longest_first')).toBe('abc|uv');
  expect(truncated('abcd', 'stuvwxy', 5, 'longest_first')).toBe('ab|stu');
  expect(truncated('abcd', 'uvwx', 5, 'longest_first')).toBe('ab|uvw');
});

test('one text alone may be truncated, if the other one leaves room for it', () => {
  expect(truncated('abcdef', 'xy', 5, 'only_first')).toBe('abc|xy');
  expect(truncated('ab', 'uvwxyz', 5, 'only_second')).toBe('ab|uvw');
  expect(() => truncated('ab', 'uvwxyz', 5, 'only_first')).toThrow(/Only the first text/);
  expect(() => truncated('abcde', 'u', 5, 'only_second')).toThrow(/Only the second text/);
});

test('tokens are left out on the side that the tokenizer names', () => {
  expect(truncated('abcdef', 'xy', 5, 'longest_first', 'left')).toBe('def|xy');
  expect(stream('abcdef', 'left').take(2).join('')).toBe('ef');
  expect(stream('abcdef').take(2).join('')).toBe('ab');
});

import { expect, test } from '@playwright/test';
import { createSplitter, type AddedTokenJson } from '../../../../../src/worker/text/encoding/added-tokens.ts';
import { AlignedText } from '../../../../../src/worker/text/encoding/aligned-text.ts';

function split(text: string, ...tokens: readonly AddedTokenJson[]): readonly (number | string)[] {
  return createSplitter(tokens, (given) => given)(AlignedText.of(text)).map((part) => part.id ?? part.text.text);
}

test('of added tokens that begin at the same place, the longest is found, whichever comes first in the file', () => {
  const [short, long] = [
    { id: 1, content: '<|im|>', special: true },
    { id: 2, content: '<|im|><|end|>', special: true },
  ];
  expect(split('a<|im|><|end|>b<|im|>c', short!, long!)).toEqual(['a', 2, 'b', 1, 'c']);
  expect(split('a<|im|><|end|>b<|im|>c', long!, short!)).toEqual(['a', 2, 'b', 1, 'c']);
});

test('a token that is a word by itself is none within a longer word', () => {
  const word = { id: 3, content: 'sea', special: true, single_word: true };
  expect(split('the sea, seaside', word)).toEqual(['the ', 3, ', seaside']);
});

test('spaces beside a token belong to it where it says so', () => {
  const mask = { id: 4, content: '[M]', special: true, lstrip: true };
  expect(split('a  [M] b', mask)).toEqual(['a', 4, ' b']);
  expect(split('a [M]  b', { ...mask, lstrip: false, rstrip: true })).toEqual(['a ', 4, 'b']);
});

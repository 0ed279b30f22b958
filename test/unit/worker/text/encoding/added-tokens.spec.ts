import { expect, test } from '@playwright/test';
import { createSplitter, type AddedTokenJson } from '../../../../../src/worker/text/encoding/added-tokens.ts';
import { random } from '../../../../random.ts';
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

test('what is found is the longest token that begins there, as a search for each of them by itself finds it', () => {
  const draw = random(50);
  const below = (count: number): number => Math.floor(draw() * count);
  const letters = ['a', 'b', '<', '😀', 'é'];
  const word = (length: number): string => Array.from({ length }, () => letters[below(letters.length)]).join('');
  for (let turn = 0; turn < 300; turn++) {
    const contents = [...new Set(Array.from({ length: 1 + below(12) }, () => word(1 + below(4))))];
    const tokens = contents.map((content, id) => ({ id, content, special: true }));
    const text = word(40);
    const expected: (number | string)[] = [];
    for (let at = 0, other = ''; at <= text.length;) {
      const found = tokens.filter(({ content }) => text.startsWith(content, at) && at < text.length);
      const [longest] = found.toSorted((one, two) => two.content.length - one.content.length);
      if (other !== '' && (longest || at === text.length)) expected.push(other);
      if (longest) expected.push(longest.id);
      other = longest ? '' : other + text.slice(at, at + 1);
      at += longest?.content.length ?? 1;
    }
    expect(split(text, ...tokens), JSON.stringify([text, contents])).toEqual(expected);
  }
});

test('65,536 added tokens, as models that speak have them, cost no seconds', () => {
  const tokens = Array.from({ length: 65_536 }, (_, id) => ({ id, content: `<|s_${id}|>`, special: true }));
  const since = performance.now();
  expect(split(`a<|s_7|>${'<|s_65535|>'.repeat(3)}<|s_65536|>`, ...tokens)).toEqual([
    'a',
    7,
    65_535,
    65_535,
    65_535,
    '<|s_65536|>',
  ]);
  // As one regular expression they took 4 s to compile.
  expect(performance.now() - since).toBeLessThan(2000);
});

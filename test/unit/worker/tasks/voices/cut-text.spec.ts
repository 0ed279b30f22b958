import { expect, test } from '@playwright/test';
import { cutText } from '../../../../../src/worker/tasks/voices/cut-text.ts';

const short = (part: string) => part.length <= 12;

for (const [what, text, parts] of [
  ['sentences', 'It is 3.14 m. Is it? "Yes!" he said…\nEnd', ['It is 3.14 m.', 'Is it?', '"Yes!"', 'he said…', 'End']],
  ['Chinese', '你好。「再见。」好！', ['你好。', '「再见。」', '好！']],
  ['one sentence without a mark', '  hello there ', ['hello there']],
  ['nothing', ' \n ', []],
] as const)
  test(`cutText: ${what}`, () => {
    expect(cutText(text, () => true)).toEqual(parts);
  });

test('cutText: a sentence that is too long is cut at its commas, and then at its spaces', () => {
  expect(cutText('one, two, three four five, six', short)).toEqual(['one, two,', 'three four', 'five,', 'six']);
  expect(cutText('aaaa bbbb cccc dddd.', short)).toEqual(['aaaa bbbb', 'cccc dddd.']);
});

test('cutText: a word that is too long', () => {
  expect(() => cutText('so incomprehensible', short)).toThrow(/"incomprehensible…" is longer than the model can speak/);
});

test('a long run of spaces is no work: by the square of its length, it would take minutes', () => {
  expect(cutText(`a${' '.repeat(200_000)}a`, () => true)).toHaveLength(1);
});

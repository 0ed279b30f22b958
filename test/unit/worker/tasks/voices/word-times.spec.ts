import { expect, test } from '@playwright/test';
import { wordTimes } from '../../../../../src/worker/tasks/voices/word-times.ts';

const tokens = [...'^ab c$'].map((character, id) => (/[\^$]/.test(character) ? { id } : { id, character }));

test('wordTimes: words between spaces, scaled to the seconds; the marks at both ends belong to none', () => {
  expect(wordTimes(tokens, [1, 2, 2, 1, 3, 1], 5, 10)).toEqual([
    { text: 'ab', start: 10.5, end: 12.5 },
    { text: 'c', start: 13, end: 14.5 },
  ]);
});

test('wordTimes: a blank belongs to the character before it', () => {
  const blanks = tokens.flatMap((token) => [token, { id: 0 }]).slice(0, -1);
  const durations = blanks.map(() => 1);
  expect(wordTimes(blanks, durations, 11, 0)).toEqual([
    { text: 'ab', start: 2, end: 6 },
    { text: 'c', start: 8, end: 10 },
  ]);
});

test('wordTimes: durations that fit no tokens, or last no time, tell nothing', () => {
  expect(wordTimes(tokens, [1, 2], 5, 0)).toBeUndefined();
  expect(wordTimes(tokens, [0, 0, 0, 0, 0, 0], 5, 0)).toBeUndefined();
});

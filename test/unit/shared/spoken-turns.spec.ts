import { expect, test } from '@playwright/test';
import { joinSpeakers } from '../../../src/shared/spoken-turns.ts';

const word = (text: string, start: number, end: number) => ({ text, start, end });
const TURNS = [
  { speaker: 'SPEAKER_00', start: 0, end: 2 },
  { speaker: 'SPEAKER_01', start: 1.5, end: 3 },
  { speaker: 'SPEAKER_00', start: 5, end: 6 },
];

test('a word belongs to the turn that it shares the most time with, and words of one speaker are one turn', () => {
  const text = ' Hello there. No, wait. Yes';
  const parts = [
    word(' Hello', 0.2, 0.6),
    // 0.4 s of the first turn, and 0.3 s of the second one.
    word(' there.', 1.4, 1.8),
    // 0.3 s of the first one, and 0.8 s of the second one.
    word(' No,', 1.7, 2.5),
    // In no turn, and nearer to the second.
    word(' wait.', 3.2, 3.4),
    word(' Yes', 5.1, 5.3),
  ];
  expect(joinSpeakers({ text, parts }, TURNS)).toEqual([
    { speaker: 'SPEAKER_00', start: 0.2, end: 1.8, text: 'Hello there.' },
    { speaker: 'SPEAKER_01', start: 1.7, end: 3.4, text: 'No, wait.' },
    { speaker: 'SPEAKER_00', start: 5.1, end: 5.3, text: 'Yes' },
  ]);
});

test('the spaces are those of the text: words of CTC models have none, and those of Chinese need none', () => {
  const spaced = { text: 'GOOD GOOD DAY', parts: [word('GOOD', 0, 1), word('GOOD', 1, 1.4), word('DAY', 2.2, 2.6)] };
  expect(joinSpeakers(spaced, TURNS).map(({ text }) => text)).toEqual(['GOOD GOOD', 'DAY']);
  const chinese = { text: '你好吗', parts: [word('你', 0, 1), word('好', 2.1, 2.2), word('吗', 2.2, 3)] };
  expect(joinSpeakers(chinese, TURNS).map(({ text }) => text)).toEqual(['你', '好吗']);
});

test('without turns, nobody speaks; without times, the error says how to ask', () => {
  expect(joinSpeakers({ text: 'so', parts: [word('so', 0, 1)] }, [])).toEqual([
    { speaker: undefined, start: 0, end: 1, text: 'so' },
  ]);
  expect(() => joinSpeakers({ text: 'so' }, TURNS)).toThrow(/timestamps: 'word'/);
});

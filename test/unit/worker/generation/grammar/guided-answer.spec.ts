import { expect, test } from '@playwright/test';
import { Automaton } from '../../../../../src/worker/generation/grammar/automaton.ts';
import { bytes } from '../../../../../src/worker/generation/grammar/grammar.ts';
import { GuidedAnswer } from '../../../../../src/worker/generation/grammar/guided-answer.ts';
import { Vocabulary } from '../../../../../src/worker/generation/grammar/vocabulary.ts';

test('logits behind the vocabulary are ruled out: some models have more of them than there are tokens', () => {
  const vocabulary = new Vocabulary(['a', 'b', 'c']);
  const answer = new GuidedAnswer(new Automaton(bytes([97, 98])), vocabulary, [2]);
  const logits = new Float32Array(100).fill(1);
  answer.mask(logits);
  expect([...logits.keys()].filter((token) => logits[token] !== -Infinity)).toEqual([0, 1]);
  answer.add(0);
  expect(answer.isComplete).toBe(true);
  logits.fill(1);
  answer.mask(logits);
  // Only the token that ends the answer is left.
  expect([...logits.keys()].filter((token) => logits[token] !== -Infinity)).toEqual([2]);
  expect(() => answer.add(0)).toThrow(/ruled out/);
});

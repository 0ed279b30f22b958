// What an automaton costs, whatever the grammar.
import { expect, test } from '@playwright/test';
import { Automaton } from '../../../../../src/worker/generation/grammar/automaton.ts';
import { bytes, type Bytes, type Grammar } from '../../../../../src/worker/generation/grammar/grammar.ts';

/** Any bytes but one. */
function without(byte: number): Bytes {
  return bytes([0, byte - 1], [byte + 1, 255]);
}

/** As many alternatives as there are bytes, each of which ends with its own: every set of bytes has a state of its own. */
function manyStates(): Grammar {
  const options = Array.from({ length: 250 }, (_, at): Grammar => ({
    kind: 'repeat',
    hasRules: false,
    item: without(at + 1),
    min: 0,
    max: Infinity,
  }));
  return { kind: 'choice', hasRules: false, options };
}

test('an automaton forgets its states when they are too many', () => {
  const automaton = new Automaton(manyStates());
  const first = automaton.step(automaton.start, 1);
  expect(automaton.step(automaton.start, 1) === first).toBe(true);
  // Each pair of bytes leaves 248 of the alternatives: eight thousand and more of them have two million parts.
  const pairs = (function* () {
    for (let one = 1; one <= 250; one++) for (let other = one + 1; other <= 250; other++) yield [one, other] as const;
  })();
  let tried = 0;
  for (const [one, other] of pairs) {
    automaton.beginSearch();
    automaton.step(automaton.step(automaton.start, one)!, other);
    if (++tried === 7000) expect(automaton.step(automaton.start, 1) === first).toBe(true);
    if (tried === 8500) break;
  }
  const again = automaton.step(automaton.start, 1)!;
  // Not `toBe`, which would print all of it.
  expect(again === first).toBe(false);
  // What it says is the same.
  expect(again.continuations).toHaveLength(249);
  expect(automaton.step(again, 1)!.continuations).toHaveLength(249);
});

test('a grammar that is too ambiguous is refused, however it is: half a million positions for one token', () => {
  const part = bytes([97, 97]);
  const sequence = (length: number): Grammar => ({
    kind: 'sequence',
    hasRules: false,
    parts: Array.from({ length }, () => part),
  });
  expect(() => new Automaton(sequence(500_001))).toThrow(/too ambiguous: more than 500000 positions/);
});

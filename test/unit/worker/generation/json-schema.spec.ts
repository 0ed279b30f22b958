import { expect, test } from '@playwright/test';
import { Automaton } from '../../../../src/worker/generation/grammar/automaton.ts';
import { schemaGrammar } from '../../../../src/worker/generation/grammar/json-schema.ts';

test('a reference is unescaped as RFC 6901 says: ~01 is ~1, not a slash', () => {
  const schema = { $ref: '#/$defs/a~01b', $defs: { 'a~1b': { const: 1 }, 'a/b': { const: 2 } } };
  const automaton = new Automaton(schemaGrammar(schema, 'schema'));
  automaton.beginSearch();
  const mayBegin = (text: string): boolean => automaton.step(automaton.start, text.charCodeAt(0)) !== undefined;
  expect(['1', '2'].map(mayBegin)).toEqual([true, false]);
});

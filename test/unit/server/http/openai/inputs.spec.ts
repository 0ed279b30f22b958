import { expect, test } from '@playwright/test';
import { textsOf } from '../../../../../src/server/http/openai/inputs.ts';

test('a field of texts is one, or up to 2048', () => {
  expect(textsOf('a', 'input')).toEqual(['a']);
  const many = Array.from({ length: 2048 }, () => 'a');
  expect(textsOf(many, 'input')).toHaveLength(2048);
  expect(() => textsOf([...many, 'a'], 'input')).toThrow(/input: expected at most 2048, got 2049/);
  for (const wrong of [[], [[1, 2]], 1, undefined, ['a', 1]])
    expect(() => textsOf(wrong, 'input')).toThrow(/input: expected a text or a list of texts/);
});

import { expect, test } from '@playwright/test';
import { textsOf } from '../../../../../src/server/http/openai/inputs.ts';

test('a field of texts is one, or up to 2048', () => {
  expect(textsOf('a', 'input')).toEqual(['a']);
  const many = Array.from({ length: 2048 }, () => 'a');
  expect(textsOf(many, 'input')).toHaveLength(2048);
  expect(() => textsOf([...many, 'a'], 'input')).toThrow(/input: expected at most 2048, got 2049/);
  expect(textsOf([1, 2], 'input')).toEqual([{ tokens: [1, 2] }]);
  expect(textsOf([[1, 2], [3]], 'input')).toEqual([{ tokens: [1, 2] }, { tokens: [3] }]);
  for (const wrong of [[], [[]], 1, undefined, ['a', 1], ['a', [1]], [[1], 'a'], [[1, 'a']], [null]])
    expect(() => textsOf(wrong, 'input')).toThrow(/input: expected a text, the ids of its tokens, or a list of either/);
});

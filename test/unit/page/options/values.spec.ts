import { expect, test } from '@playwright/test';
import { absoluteUrl, folderUrl, oneOf, readMapping } from '../../../../src/page/options/values.ts';

test('a folder’s URL ends with one slash; a URL without a page is absolute', () => {
  expect([folderUrl('https://a.example/m'), folderUrl('https://a.example/m/')]).toEqual([
    'https://a.example/m/',
    'https://a.example/m/',
  ]);
  expect(absoluteUrl(new URL('https://a.example/x'), 'model')).toBe('https://a.example/x');
  expect(() => absoluteUrl('/x', 'model')).toThrow('model: expected a URL, got "/x". Nothing is relative here');
});

test('one of a few values, and a copy of a mapping', () => {
  expect(oneOf('loading', ['eager', 'lazy'], 'lazy')).toBe('lazy');
  expect(() => oneOf('loading', ['eager', 'lazy'], 'never')).toThrow(/loading: expected one of "eager", "lazy"/);
  const given = { a: 1 };
  expect(readMapping(given, 'config', 'keys')).toEqual(given);
  expect(readMapping(given, 'config', 'keys')).not.toBe(given);
  for (const wrong of [null, [1], 'a']) expect(() => readMapping(wrong, 'config', 'keys')).toThrow(/a mapping of keys/);
});

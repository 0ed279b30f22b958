import { expect, test } from '@playwright/test';
import { numberFlag } from '../../../../src/tools/cli/flags.ts';

test('a number of a flag is a whole one, within its limits', () => {
  expect(['1', '80', '65535'].map((text) => numberFlag('port', text, 1, 65_535))).toEqual([1, 80, 65_535]);
  expect(numberFlag('port', undefined, 1, 65_535)).toBeUndefined();
  for (const text of ['0', '65536', '1.5', '-1', '1e3', '', 'x', ' 1'])
    expect(() => numberFlag('port', text, 1, 65_535)).toThrow('--port: expected a whole number from 1 to 65535');
});

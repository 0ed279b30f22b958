import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { MUTANTS } from '../../../scripts/mutants/list.mjs';

test('the text that each mutant replaces is in its file once', () => {
  const source = (file: string): string => readFileSync(new URL(`../../../src/${file}`, import.meta.url), 'utf8');
  const wrong = MUTANTS.filter(([file, part]) => source(file).split(part).length !== 2);
  expect(wrong).toEqual([]);
});

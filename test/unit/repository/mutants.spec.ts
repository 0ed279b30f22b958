import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { ROOMS } from '../../../scripts/lint/rooms.mjs';
import { MUTANTS } from '../../../scripts/mutants/list.mjs';

test('the text that each mutant replaces is in its file once', () => {
  const source = (file: string): string => readFileSync(new URL(`../../../src/${file}`, import.meta.url), 'utf8');
  const wrong = MUTANTS.filter(([file, part]) => source(file).split(part).length !== 2);
  expect(wrong).toEqual([]);
});

test('every room that is there for users has a mutant, and no mutant is there twice', () => {
  expect(new Set(MUTANTS.map((mutant) => mutant.join('\n'))).size).toBe(MUTANTS.length);
  const roomOf = (file: string): string =>
    Object.keys(ROOMS)
      .filter((room) => file.startsWith(`${room}/`))
      .reduce((longest, room) => (room.length > longest.length ? room : longest), '');
  const planted = new Set(MUTANTS.map(([file]) => roomOf(file)));
  const rooms = Object.keys(ROOMS).filter((room) => /^(shared|page|worker|server)\b/.test(room) && !room.includes('*'));
  // The built-in worker has no rule of its own.
  expect(rooms.filter((room) => !planted.has(room))).toEqual(['worker']);
});

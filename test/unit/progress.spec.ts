import { expect, test } from '@playwright/test';
import { sumProgress } from '../../src/client/progress.ts';
import type { Progress } from '../../src/contract/archive.ts';

test('the sum of all files: its total is unknown until all files and their sizes are known, and it never falls', () => {
  const overall: Progress['overall'][] = [];
  const report = sumProgress((progress) => overall.push(progress.overall));
  const tell = (file: string, loaded: number, total: number | undefined, planned: boolean): void =>
    report({ type: 'progress', progress: { file, loaded, total }, planned });
  tell('manifest', 10, 10, false);
  tell('model', 0, 100, false);
  tell('engine', 0, undefined, true);
  tell('engine', 5, 50, true);
  tell('model', 100, 100, true);
  // Another worker downloads the model again, and a file that turns out larger than was known.
  tell('model', 20, 100, false);
  tell('engine', 60, 50, false);
  expect(overall).toEqual([
    { loaded: 10, total: undefined },
    { loaded: 10, total: undefined },
    { loaded: 10, total: undefined },
    { loaded: 15, total: 160 },
    { loaded: 115, total: 160 },
    { loaded: 115, total: 160 },
    { loaded: 170, total: 170 },
  ]);
});

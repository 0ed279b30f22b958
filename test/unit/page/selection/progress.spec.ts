import { expect, test } from '@playwright/test';
import { ProgressSum } from '../../../../src/page/selection/progress.ts';
import type { Progress } from '../../../../src/contract/archive.ts';

test('the sum of all files: its total is unknown until all files and their sizes are known, and it never falls', () => {
  const overall: Progress['overall'][] = [];
  const sum = new ProgressSum((progress) => overall.push(progress.overall));
  const tell = (file: string, loaded: number, total: number | undefined, planned: boolean): void =>
    sum.add({ type: 'progress', progress: { file, loaded, total, phase: 'download' }, planned });
  tell('manifest', 10, 10, false);
  tell('model', 0, 100, false);
  tell('engine', 0, undefined, true);
  tell('engine', 5, 50, true);
  tell('model', 100, 100, true);
  // Another worker downloads the model again, and a file that turns out larger than was known.
  tell('model', 20, 100, false);
  tell('engine', 60, 50, false);
  sum.finish();
  expect(overall).toEqual([
    { loaded: 10, total: undefined, fraction: undefined },
    { loaded: 10, total: undefined, fraction: undefined },
    { loaded: 10, total: undefined, fraction: undefined },
    { loaded: 15, total: 160, fraction: 15 / 160 },
    { loaded: 115, total: 160, fraction: 115 / 160 },
    { loaded: 115, total: 160, fraction: 115 / 160 },
    { loaded: 170, total: 170, fraction: 1 },
    { loaded: 170, total: 170, fraction: 1 },
  ]);
});

test('a second engine makes the total grow, and the bar wait; at the end the file of the first one does not count', () => {
  const overall: Progress['overall'][] = [];
  const sum = new ProgressSum((progress) => overall.push(progress.overall));
  const tell = (file: string, loaded: number, total: number): void =>
    sum.add({ type: 'progress', progress: { file, loaded, total, phase: 'download' }, planned: true });
  tell('model', 50, 50);
  tell('webgpu.wasm', 25, 50);
  tell('wasm.wasm', 0, 50);
  tell('wasm.wasm', 50, 50);
  sum.finish();
  expect(overall.map(({ fraction }) => fraction)).toEqual([1, 1, 1, 1, 1]);
  expect(overall.at(-2)).toMatchObject({ loaded: 125, total: 150 });
  expect(overall.at(-1)).toEqual({ loaded: 125, total: 125, fraction: 1 });
});

test('a size that has proved too small is forgotten, unless the next event says another one', () => {
  const totals: (number | undefined)[] = [];
  const sum = new ProgressSum(({ overall }) => totals.push(overall.total));
  const tell = (loaded: number, total: number | undefined): void =>
    sum.add({ type: 'progress', progress: { file: 'model', loaded, total, phase: 'download' }, planned: true });
  tell(0, 50);
  tell(50, undefined);
  tell(60, undefined);
  tell(70, 80);
  expect(totals).toEqual([50, 50, undefined, 80]);
});

test('the end is a warm-up that is over; an event that comes after it is not reported', () => {
  const seen: string[] = [];
  const sum = new ProgressSum(({ phase, overall }) => seen.push(`${phase} ${overall.fraction}`));
  const tell = (phase: 'download' | 'compile' | 'warm-up'): void =>
    sum.add({ type: 'progress', progress: { file: 'model', loaded: 1, total: 1, phase }, planned: true });
  tell('download');
  tell('compile');
  sum.finish();
  tell('warm-up');
  expect(seen).toEqual(['download 1', 'compile 1', 'warm-up 1']);
});

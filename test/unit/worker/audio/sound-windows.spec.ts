import { expect, test } from '@playwright/test';
import { recordingOf } from '../../../../src/worker/audio/read-audio.ts';
import { SampleReader } from '../../../../src/worker/audio/sample-reader.ts';
import { soundWindows } from '../../../../src/worker/audio/sound-windows.ts';

const RATE = 16_000;

/** @param said how many samples the file says that it has */
async function windowsOf(length: number, size: number, step: number, said = length) {
  const samples = Float32Array.from({ length }, (_, at) => at);
  const reader = new SampleReader({ ...recordingOf(samples, RATE), length: said }, RATE, 60);
  const windows = [];
  for await (const window of soundWindows(reader, size, step)) windows.push(window);
  for (const { start, samples: own } of windows) expect(own).toEqual(samples.slice(start, start + size));
  expect(windows.map(({ isLast }) => isLast)).toEqual(windows.map((_, at) => at === windows.length - 1));
  return windows.map(({ start, progress: { done, total } }) => [start, done, total]);
}

test('windows: the last one may be shorter, and a short recording has one', async () => {
  for (const length of [0, 5, 40]) expect(await windowsOf(length, 40, 20)).toEqual([[0, 1, 1]]);
  for (const length of [41, 60])
    expect(await windowsOf(length, 40, 20)).toEqual([
      [0, 1, 2],
      [20, 2, 2],
    ]);
  expect(await windowsOf(60, Infinity, 20)).toEqual([[0, 1, 1]]);
});

test('a file that says a wrong length: the windows are those of its sound, and the work ends with the last one', async () => {
  expect(await windowsOf(80, 40, 20, 41)).toEqual([
    [0, 1, 2],
    [20, 2, 3],
    [40, 3, 3],
  ]);
  expect(await windowsOf(41, 40, 20, 100)).toEqual([
    [0, 1, 4],
    [20, 2, 2],
  ]);
});

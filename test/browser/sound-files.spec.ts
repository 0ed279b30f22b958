/** Files that the browser's decoder reads, against ffmpeg: `test/goldens/sounds/make.py`. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { expect, test } from './fixtures.ts';
import { DECODED, differenceOf, MOST_MORE } from '../sound-facts.ts';
import type * as Pages from './pages/sounds.ts';

declare const sounds: typeof Pages.sounds;

for (const [by, decode] of [
  ['worker', 'decode'],
  ['page', 'decodeWithoutWebCodecs'],
] as const)
  test(`MP3, MP4, Ogg, WebM, FLAC and the sound of a video are what ffmpeg decodes, by a ${by} @once @firefox`, async ({
    page,
  }) => {
    await page.goto('/test/browser/pages/sounds.html');
    await page.waitForFunction(() => 'sounds' in window);
    for (const [name, expected] of Object.entries(DECODED)) {
      const found = await page.evaluate(async ([url, way]) => await sounds[way](url, ''), [
        `/test/goldens/sounds/${name}`,
        decode,
      ] as const);
      expect(found, name).toMatchObject({ sampleRate: expected.sampleRate, by });
      const { samples, length } = found as { samples: readonly number[]; length: number };
      expect(Math.abs(samples.length - expected.samples), name).toBeLessThan(MOST_MORE);
      expect(Math.abs(samples.length - length), name).toBeLessThan(MOST_MORE);
      expect(differenceOf(samples, expected), name).toBeLessThan(1e-3);
    }
  });

for (const [by, decode] of [
  ['worker', 'decode'],
  ['page', 'decodeWithoutWebCodecs'],
] as const)
  test(`a video without sound, an encrypted file and a damaged one are refused with a remedy, by a ${by} @once @firefox`, async ({
    page,
  }) => {
    await page.goto('/test/browser/pages/sounds.html');
    await page.waitForFunction(() => 'sounds' in window);
    for (const [name, type] of [
      ['mute.mp4', 'video/mp4'],
      ['mute.webm', ''],
      ['encrypted.mp4', 'audio/mp4'],
      ['decoded.json', 'audio/mpeg'],
    ] as const) {
      const found = await page.evaluate(async ([url, given, way]) => await sounds[way](url, given), [
        `/test/goldens/sounds/${name}`,
        type,
        decode,
      ] as const);
      expect(found, name).toEqual({
        code: 'invalid-input',
        message: expect.stringContaining('ffmpeg -i FILE sound.wav'),
      });
    }
  });

test('a file that is shorter than its header says is refused, and not answered for its beginning @once @firefox', async ({
  page,
}) => {
  await page.goto('/test/browser/pages/sounds.html');
  await page.waitForFunction(() => 'sounds' in window);
  // The index of an M4A file may be at its end: without it, there is no sound at all.
  for (const [name, why] of [
    ['tone.mp3', 'it is truncated or damaged: it says that it ends after 0.'],
    ['tone.m4a', 'the file has no sound'],
  ] as const) {
    const found = await page.evaluate(async (url) => await sounds.decode(url, '', 0.5), `/test/goldens/sounds/${name}`);
    expect(found, name).toEqual({ code: 'invalid-input', message: expect.stringContaining(why) });
  }
});

test('a file that is removed while it is decoded is no damaged file @once', async ({ page }, info) => {
  await page.goto('/test/browser/pages/sounds.html');
  await page.waitForFunction(() => 'sounds' in window);
  const path = info.outputPath('tone.mp3');
  copyFileSync('test/goldens/sounds/tone.mp3', path);
  await page.exposeFunction('change', () => writeFileSync(path, 'another'));
  await page.evaluate(() => document.body.append(Object.assign(document.createElement('input'), { type: 'file' })));
  await page.locator('input').setInputFiles(path);
  const found = await page.evaluate(
    async () => await sounds.decodeChanging(document.querySelector('input')!.files![0]!),
  );
  expect(found).toEqual({
    code: 'invalid-input',
    message: 'The audio file cannot be read: it has been changed, moved or removed.',
  });
});

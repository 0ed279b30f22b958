/** Files that the browser's decoder reads, against ffmpeg: `test/goldens/sounds/make.py`. */
import { expect, test } from './fixtures.ts';
import { DECODED, differenceOf, MOST_MORE } from '../sound-facts.ts';
import type * as Pages from './pages/sounds.ts';

declare const sounds: typeof Pages.sounds;

test('MP3, MP4, Ogg, WebM, FLAC and the sound of a video are what ffmpeg decodes @once @firefox', async ({ page }) => {
  await page.goto('/test/browser/pages/sounds.html');
  await page.waitForFunction(() => 'sounds' in window);
  for (const [name, expected] of Object.entries(DECODED)) {
    const found = await page.evaluate(async (url) => await sounds.decode(url, ''), `/test/goldens/sounds/${name}`);
    expect(found, name).toMatchObject({ sampleRate: expected.sampleRate, channels: expected.channels });
    const { samples } = found as { samples: readonly number[] };
    expect(Math.abs(samples.length - expected.samples), name).toBeLessThan(MOST_MORE);
    expect(differenceOf(samples, expected), name).toBeLessThan(1e-3);
  }
});

test('a video without sound, an encrypted file and a damaged one are refused with a remedy @once', async ({ page }) => {
  await page.goto('/test/browser/pages/sounds.html');
  await page.waitForFunction(() => 'sounds' in window);
  for (const [name, type, words] of [
    ['mute.mp4', 'video/mp4', 'The file is MP4, and its sound cannot be decoded here.'],
    ['mute.webm', '', 'The file is WebM, and its sound cannot be decoded here.'],
    [
      'encrypted.mp4',
      'audio/mp4',
      'It is damaged, encrypted, no audio, or of a format that this browser does not know.',
    ],
    ['decoded.json', 'audio/mpeg', 'could not be decoded'],
  ] as const) {
    const found = await page.evaluate(async ([url, given]) => await sounds.decode(url, given), [
      `/test/goldens/sounds/${name}`,
      type,
    ] as const);
    expect(found, name).toEqual({ code: 'invalid-input', message: expect.stringContaining(words) });
    expect(found, name).toMatchObject({ message: expect.stringContaining('ffmpeg -i FILE sound.wav') });
  }
});

/** Files that the browser's decoder reads, against ffmpeg: `test/goldens/sounds/make.py`. */
import { expect, test } from './fixtures.ts';
import { readGoldens } from './goldens.ts';
import type * as Pages from './pages/sounds.ts';

declare const sounds: typeof Pages.sounds;

interface Decoded {
  readonly sampleRate: number;
  readonly channels: number;
  readonly samples: number;
  readonly every97th: readonly number[];
}

const decoded = readGoldens<Readonly<Record<string, Decoded>>>('../goldens/sounds/decoded.json');

/** Samples by which an encoder's delay may be counted in another way: Firefox has that of MP3, Chromium a part of WebM's. */
const MOST_SHIFT = 1200;

/** Returns how much samples differ at the shift where they differ least, without what fades in and out. */
function differenceOf(samples: readonly number[], { every97th }: Decoded): number {
  let least = Infinity;
  for (let shift = -MOST_SHIFT; shift <= MOST_SHIFT; shift++) {
    let most = 0;
    for (let at = 15; at < every97th.length - 25 && most < least; at++)
      most = Math.max(most, Math.abs(every97th[at]! - samples[at * 97 + shift]!));
    least = Math.min(least, most);
  }
  return least;
}

test('MP3, MP4, Ogg, WebM, FLAC and the sound of a video are what ffmpeg decodes @once @firefox', async ({ page }) => {
  await page.goto('/test/browser/pages/sounds.html');
  await page.waitForFunction(() => 'sounds' in window);
  for (const [name, expected] of Object.entries(decoded)) {
    const found = await page.evaluate(async (url) => await sounds.decode(url, ''), `/test/goldens/sounds/${name}`);
    expect(found, name).toMatchObject({ sampleRate: expected.sampleRate, channels: expected.channels });
    const { samples } = found as { samples: readonly number[] };
    expect(Math.abs(samples.length - expected.samples), name).toBeLessThan(MOST_SHIFT);
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

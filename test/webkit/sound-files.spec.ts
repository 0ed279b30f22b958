/** Files that WebKit's decoder reads, against ffmpeg: `test/goldens/sounds/make.py`. */
import { DECODED, differenceOf, MOST_MORE } from '../sound-facts.ts';
import type * as Pages from '../browser/pages/sounds.ts';
import { expect, test } from './fixtures.ts';

declare const sounds: typeof Pages.sounds;

// It never settles for a video without sound: the request ends with the limit of decoding.
test.skip(({ full }) => !full, 'npm run webkit runs it');

test('MP3, MP4, Ogg, WebM, FLAC and the sound of a video are what ffmpeg decodes', async ({ webkitPage: page }) => {
  await page.goto('/test/browser/pages/sounds.html');
  await page.waitForFunction(() => 'sounds' in window);
  for (const [name, expected] of Object.entries(DECODED)) {
    const found = await page.evaluate(async (url) => await sounds.decode(url, ''), `/test/goldens/sounds/${name}`);
    expect(found, name).toMatchObject({ sampleRate: expected.sampleRate });
    const { samples } = found as { samples: readonly number[] };
    expect(Math.abs(samples.length - expected.samples), name).toBeLessThan(MOST_MORE);
    expect(differenceOf(samples, expected), name).toBeLessThan(1e-3);
  }
});

import { FAILURES, PICTURES, expectedPixels, type Golden } from '../image-facts.ts';
import type { DecodeOptions, DecodedImage, ImageInput } from '../../src/contract/images.ts';
import { expect, test } from './fixtures.ts';

declare const images: { decodeImage(source: ImageInput, options?: DecodeOptions): Promise<DecodedImage> };

/** What is read of a file: RGB, or the code and the message of an error. */
interface Read {
  readonly pixels?: readonly number[];
  readonly code?: string;
  readonly message?: string;
}

test('every picture has the pixels that Pillow reads, as near as the decoder allows', async ({ webkitPage: page }) => {
  await page.goto('/test/browser/pages/images.html');
  await page.waitForFunction(() => 'images' in window);
  const wrong: string[] = [];
  for (const { name, bytes, golden } of [...PICTURES, ...FAILURES.map((one) => ({ ...one, golden: undefined }))]) {
    const read: Read = await page.evaluate(
      async ({ bytes, options }) => {
        try {
          const image = await images.decodeImage(new Blob([bytes]), options);
          const { format, width, height, stride, data } = await image.read();
          const [step, ...rgb] = {
            RGB: [3, 0, 1, 2],
            BGR: [3, 2, 1, 0],
            RGBX: [4, 0, 1, 2],
            BGRX: [4, 2, 1, 0],
            L: [1, 0, 0, 0],
          }[format];
          const pixels: number[] = [];
          for (let y = 0; y < height; y++)
            for (let x = 0; x < width; x++) for (const at of rgb) pixels.push(data[y * stride + x * step! + at]!);
          image.close();
          return { pixels };
        } catch (error) {
          const { code, message } = error as { readonly code: string; readonly message: string };
          return { code, message };
        }
      },
      {
        bytes: Uint8Array.from(bytes),
        options: golden ? { background: golden.background, exifOrientation: golden.exif } : {},
      },
    );
    if (golden === undefined) {
      if (read.code !== 'image-decode') wrong.push(`${name}: ${read.code ?? 'a picture'}`);
      continue;
    }
    const right = expectedPixels(golden);
    const largest = read.pixels?.reduce((most, value, at) => Math.max(most, Math.abs(value - right[at]!)), 0);
    if (largest === undefined || read.pixels!.length !== right.length || largest > toleranceOf(golden))
      wrong.push(`${name}: ${read.message ?? `${largest} of 255`}`);
  }
  expect(wrong).toEqual([]);
});

/** How far pictures are from Pillow's: a canvas multiplies colors by their alpha. */
const WEBKIT: readonly (readonly [files: RegExp, tolerance: number])[] = [
  [/alpha|palette/, 2],
  // WebKitGTK does not turn it. Safari has another decoder.
  [/irot/, 255],
];

function toleranceOf({ file, tolerance }: Golden): number {
  return WEBKIT.find(([files]) => files.test(file))?.[1] ?? tolerance;
}

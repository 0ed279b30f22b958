import { expect, test } from '@playwright/test';
import type { DecodeOptions, Pixels } from '../../src/contract/images.ts';
import { decodeImage } from '../../src/worker/images/decode.ts';
import { provideFileDecoder } from '../../src/worker/images/encoded.ts';
import { decodeFile } from '../../src/server/node/decode-file.ts';
import { fixture } from '../hostile-images.ts';
import { expectedPixels, FAILURES, HEIC, PICTURES } from '../image-facts.ts';

test.beforeAll(() => provideFileDecoder(decodeFile));
test.afterAll(() => provideFileDecoder(undefined));

/** What sharp does not decode. */
const NOT_DECODED = new Set(['rgb.bmp']);

/** Its AVIF decoder, dav1d with libheif, converts colors in another way. Measured: 10 of 255. */
const toleranceOf = (file: string): number => (file.endsWith('.avif') ? 10 : 0);

test('every picture has the pixels that Pillow reads, JPEG too; but for AVIF', async () => {
  for (const { name, bytes, golden } of PICTURES) {
    if (NOT_DECODED.has(golden.file)) continue;
    const { file, width, height, exif, background } = golden;
    const got = await read(bytes, { exifOrientation: exif, background });
    expect.soft([name, got.width, got.height]).toEqual([name, width, height]);
    const right = expectedPixels(golden);
    const largest = right.reduce((most, value, index) => Math.max(most, Math.abs(value - got.rgb[index]!)), 0);
    expect.soft(largest, name).toBeLessThanOrEqual(toleranceOf(file));
  }
});

test('the error for a file without a picture says why', async () => {
  for (const { name, bytes, message } of FAILURES)
    await expect
      .soft(read(bytes), name)
      .rejects.toMatchObject({ code: 'image-decode', message: expect.stringMatching(message) });
});

test('a file that is too large, or of a format that sharp lacks', async () => {
  for (const [bytes, code, message] of [
    [fixture('bomb.png'), 'image-too-large', /pixels/],
    [fixture('rgb.bmp'), 'unsupported', /does not decode image\/bmp.*PNG/],
    [HEIC, 'unsupported', /does not decode image\/heic.*JPEG/],
  ] as const)
    await expect
      .soft(read(bytes), String(message))
      .rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});

async function read(
  bytes: Uint8Array,
  options: DecodeOptions = {},
): Promise<Pick<Pixels, 'width' | 'height'> & { readonly rgb: Uint8Array }> {
  const image = await decodeImage(new Blob([bytes as Uint8Array<ArrayBuffer>]), options);
  const { data, width, height, format } = await image.read();
  image.close();
  // Gray is one byte, which stands for three.
  const rgb =
    format === 'L'
      ? Uint8Array.from({ length: data.length * 3 }, (_, index) => data[Math.floor(index / 3)]!)
      : Uint8Array.from(data).filter((_, index) => index % format.length < 3);
  return { width, height, rgb };
}

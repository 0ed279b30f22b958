import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { DecodeOptions, Pixels } from '../../src/contract/images.ts';
import { decodeImage } from '../../src/images/decode.ts';
import { provideFileDecoder } from '../../src/images/file-decoder.ts';
import { decodeFile } from '../../src/node/decode-file.ts';

interface Golden {
  readonly file: string;
  readonly width: number;
  readonly height: number;
  readonly background: [number, number, number];
  readonly exif: boolean;
  readonly offset: number;
}

const folder = new URL('../goldens/images/', import.meta.url);
const goldens = JSON.parse(readFileSync(new URL('expected.json', folder), 'utf8')) as Record<string, Golden>;
const expected = readFileSync(new URL('expected.bin', folder));

test.beforeAll(() => provideFileDecoder(decodeFile));
test.afterAll(() => provideFileDecoder(undefined));

/** What sharp does not decode. */
const NOT_DECODED = new Set(['rgb.bmp']);

/** Its AVIF decoder, dav1d with libheif, converts colors in another way. Measured: 10 of 255. */
const toleranceOf = (file: string): number => (file === 'lossy.avif' ? 10 : 0);

test('every fixture has the pixels that Pillow reads, JPEG too; but for AVIF', async () => {
  for (const [name, golden] of Object.entries(goldens)) {
    if (NOT_DECODED.has(golden.file)) continue;
    const { file, width, height, offset, exif, background } = golden;
    const got = await read(file, { exifOrientation: exif, background });
    expect.soft([name, got.width, got.height]).toEqual([name, width, height]);
    const right = expected.subarray(offset, offset + width * height * 3);
    const largest = right.reduce((most, value, index) => Math.max(most, Math.abs(value - got.rgb[index]!)), 0);
    expect.soft(largest, name).toBeLessThanOrEqual(toleranceOf(file));
  }
});

test('a file that is damaged, truncated, too large, or of a format that sharp lacks', async () => {
  const cases: readonly [file: string, code: string, message: RegExp][] = [
    ['empty.jpg', 'image-decode', /empty/],
    ['garbage.png', 'image-decode', /PNG, 308 bytes/],
    ['truncated-rgb.png', 'image-decode', /PNG.*truncated/],
    ['truncated-420.jpg', 'image-decode', /JPEG.*truncated/],
    ['truncated-rgb.webp', 'image-decode', /WebP.*truncated/],
    ['drawing.svg', 'image-decode', /SVG/],
    ['bomb.png', 'image-too-large', /pixels/],
    ['rgb.bmp', 'unsupported', /does not decode image\/bmp.*PNG/],
  ];
  for (const [file, code, message] of cases)
    await expect.soft(read(file), file).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});

async function read(
  file: string,
  options: DecodeOptions = {},
): Promise<Pick<Pixels, 'width' | 'height'> & { readonly rgb: Uint8Array }> {
  const image = await decodeImage(new Blob([readFileSync(new URL(file, folder))]), options);
  const { data, width, height } = await image.read();
  image.close();
  return { width, height, rgb: Uint8Array.from(data).filter((_, index) => index % 4 < 3) };
}

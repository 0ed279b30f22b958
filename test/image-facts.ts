/**
 * What is known of image files: the pixels that Pillow reads, or why there are none. One list for tab and Node, so that
 * both decode alike.
 */
import { fixture } from './hostile-images.ts';

export interface Golden {
  readonly file: string;
  readonly width: number;
  readonly height: number;
  /** The largest difference in any channel. */
  readonly tolerance: number;
  readonly background: [number, number, number];
  readonly exif: boolean;
  /** Where its RGB pixels start in `expected.bin`. */
  readonly offset: number;
}

/** By name, as `goldens/images/make.py` writes them. */
export const GOLDENS = JSON.parse(new TextDecoder().decode(fixture('expected.json'))) as Record<string, Golden>;

const pixels = fixture('expected.bin');

/** Returns the RGB pixels that Pillow reads. */
export function expectedPixels({ offset, width, height }: Golden): Uint8Array {
  return pixels.subarray(offset, offset + width * height * 3);
}

interface Fact {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A file with a picture. */
export interface Picture extends Fact {
  readonly golden: Golden;
}

/** A file without one: an `image-decode` error. */
export interface Failure extends Fact {
  readonly message: RegExp;
}

const cut = (file: string, bytes: number): Uint8Array => fixture(file).slice(0, -bytes);

/** JPEGs that lack the marker EOI, and no more than it, have their whole picture. */
const withoutEnd: readonly Picture[] = ['420.jpg', '444.jpg', '420-1x1.jpg', 'gray.jpg', 'cmyk.jpg', 'exif-6.jpg'].map(
  (file) => ({ name: `${file} without EOI`, bytes: cut(file, 2), golden: GOLDENS[file]! }),
);

export const PICTURES: readonly Picture[] = [
  ...Object.entries(GOLDENS).map(([name, golden]) => ({ name, bytes: fixture(golden.file), golden })),
  ...withoutEnd,
];

/** What the error says of a file. */
const DAMAGED: Readonly<Record<string, RegExp>> = {
  'empty.jpg': /empty/,
  'text.jpg': /text, 45 bytes/,
  'drawing.svg': /SVG/,
  'garbage.png': /PNG, 308 bytes/,
  'garbage.jpg': /JPEG, 304 bytes/,
  'header-only.jpg': /JPEG, 200 bytes/,
  'truncated-rgb.png': /PNG.*truncated/,
  'truncated-420.jpg': /JPEG.*truncated/,
  'truncated-progressive.jpg': /JPEG.*truncated/,
  'truncated-rgb.webp': /WebP.*truncated/,
  'truncated-animated.gif': /GIF.*truncated/,
  'truncated-rgb.bmp': /BMP.*truncated/,
};

export const FAILURES: readonly Failure[] = [
  ...Object.entries(DAMAGED).map(([file, message]) => ({ name: file, bytes: fixture(file), message })),
  // A block is missing, as after a download that has stopped: of a file of its size, the rest is zeros.
  ...(['420.jpg', '444.jpg', 'gray.jpg', 'cmyk.jpg'] as const).map((file) => ({
    name: `${file} without its half`,
    bytes: Buffer.concat([cut(file, fixture(file).length / 4), new Uint8Array(2000)]),
    message: /ends before its picture does .*JPEG/,
  })),
  ...(['420.jpg', '444.jpg', 'gray.jpg'] as const).map((file) => ({
    name: `${file} without its last bytes`,
    bytes: cut(file, 6),
    message: /ends before its picture does .*JPEG/,
  })),
  // A progressive JPEG goes over its picture again and again: without its end, it may lack the last time.
  { name: 'progressive.jpg without EOI', bytes: cut('progressive.jpg', 2), message: /ends before its picture does/ },
  { name: 'rgb.png without IEND', bytes: cut('rgb.png', 12), message: /PNG.*truncated/ },
  { name: 'lossy.webp without its last byte', bytes: cut('lossy.webp', 1), message: /WebP.*truncated/ },
  { name: 'lossy.avif without its last byte', bytes: cut('lossy.avif', 1), message: /AVIF.*truncated/ },
  { name: 'rgb.bmp without its last row', bytes: cut('rgb.bmp', 100), message: /BMP.*truncated/ },
];

/** A HEIC, but for its pixels: those of an AVIF under the names that HEIC has for them. */
export const HEIC: Uint8Array = Buffer.from(
  Buffer.from(fixture('lossy.avif'))
    .toString('latin1')
    .replaceAll('avif', 'heic')
    .replaceAll('av01', 'hvc1')
    .replaceAll('av1C', 'hvcC'),
  'latin1',
);

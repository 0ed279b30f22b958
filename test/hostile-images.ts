/**
 * Makes image files that claim more than they have, each of a few hundred bytes. What needs real pixels is made from
 * the fixtures in `test/goldens/images`.
 */
import { readFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';

export const fixture = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`goldens/images/${name}`, import.meta.url)));

type Part = string | Uint8Array | readonly number[];

export const bytes = (...parts: readonly Part[]): Uint8Array =>
  Uint8Array.from(
    parts.flatMap((part) => (typeof part === 'string' ? [...part].map((c) => c.charCodeAt(0)) : [...part])),
  );

const big = (count: number, value: number): number[] =>
  Array.from({ length: count }, (_, i) => Math.floor(value / 256 ** (count - 1 - i)) % 256);
const little = (count: number, value: number): number[] => big(count, value).toReversed();
const u16 = (value: number): number[] => big(2, value);
const u32 = (value: number): number[] => big(4, value);

/** Replaces the bytes from `at` on. */
export const patch = (file: Uint8Array, at: number, part: Part): Uint8Array =>
  bytes(file.subarray(0, at), part, file.subarray(at + bytes(part).length));

export const insert = (file: Uint8Array, at: number, part: Part): Uint8Array =>
  bytes(file.subarray(0, at), part, file.subarray(at));

export const find = (file: Uint8Array, text: string): number => {
  const at = Buffer.from(file).indexOf(text, 0, 'latin1');
  if (at < 0) throw new Error(`there is no ${text}`);
  return at;
};

// JPEG

/** A gray JPEG that says it has these sides. */
export function jpeg(width: number, height: number, name = 'gray.jpg'): Uint8Array {
  const file = fixture(name);
  const frame = name === 'gray.jpg' ? '\xff\xc0' : '\xff\xc2';
  return patch(file, find(file, frame) + 5, [...u16(height), ...u16(width)]);
}

/** A progressive JPEG with more scans, each of which has no data. */
export function jpegWithScans(side: number, scans: number): Uint8Array {
  const file = jpeg(side, side, 'progressive.jpg');
  const scan = [0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0];
  return insert(file, file.length - 2, Array.from({ length: scans }, () => scan).flat());
}

// GIF

export interface GifFrame {
  readonly left?: number;
  readonly top?: number;
  readonly width: number;
  readonly height: number;
}

/** A GIF whose frames have no more than one pixel of data. */
export const gif = (width: number, height: number, ...frames: readonly GifFrame[]): Uint8Array =>
  bytes(
    'GIF89a',
    [...little(2, width), ...little(2, height), 0x80, 0, 0, 0, 0, 0, 255, 255, 255],
    ...frames.map(({ left = 0, top = 0, width, height }) => [
      0x2c,
      ...[left, top, width, height].flatMap((side) => little(2, side)),
      0,
      2,
      2,
      0x4c,
      1,
      0,
    ]),
    ';',
  );

// PNG

export const chunk = (type: string, data: Part): Uint8Array =>
  bytes(u32(bytes(data).length), type, data, u32(crc32(bytes(type, data))));

export const png = (width: number, height: number, ...extra: readonly Uint8Array[]): Uint8Array =>
  bytes(
    '\x89PNG\r\n\x1a\n',
    chunk('IHDR', [...u32(width), ...u32(height), 8, 2, 0, 0, 0]),
    ...extra,
    chunk('IDAT', deflateSync(new Uint8Array(52))),
    chunk('IEND', []),
  );

export const animation = (frames: number): Uint8Array => chunk('acTL', [...u32(frames), ...u32(0)]);
export const frameControl = (width: number, height: number): Uint8Array =>
  chunk('fcTL', [0, width, height, 0, 0].flatMap(u32).concat(0, 1, 0, 1, 0, 0));

// WebP

export const riff = (...chunks: readonly Uint8Array[]): Uint8Array =>
  bytes('RIFF', little(4, 4 + chunks.reduce((sum, { length }) => sum + length, 0)), 'WEBP', ...chunks);

const riffChunk = (type: string, data: Part): Uint8Array => {
  const { length } = bytes(data);
  return bytes(type, little(4, length), data, length % 2 ? [0] : []);
};

const sides24 = (width: number, height: number): number[] => [...little(3, width - 1), ...little(3, height - 1)];
export const canvas = (width: number, height: number, flags = 0): Uint8Array =>
  riffChunk('VP8X', [flags, 0, 0, 0, ...sides24(width, height)]);
export const lossless = (width: number, height: number): Uint8Array =>
  riffChunk('VP8L', [0x2f, ...little(4, width - 1 + (height - 1) * 2 ** 14), 0, 0, 0, 0, 0]);
export const webpFrame = (width: number, height: number, ...chunks: readonly Uint8Array[]): Uint8Array =>
  riffChunk('ANMF', bytes(little(6, 0), sides24(width, height), [0, 0, 0, 0], ...chunks));

// BMP and icons

const infoHeader = (width: number, height: number, compression = 0): number[] => [
  ...[40, width, height].flatMap((n) => little(4, n < 0 ? n + 2 ** 32 : n)),
  1,
  0,
  compression === 1 ? 8 : 24,
  0,
  ...little(4, compression),
  ...little(20, 0),
];

export const bmp = (width: number, height: number, compression = 0): Uint8Array =>
  bytes('BM', little(4, 54), [0, 0, 0, 0], little(4, 54), infoHeader(width, height, compression), new Uint8Array(64));

export const icon = (...entries: readonly { side: number; file: Uint8Array }[]): Uint8Array => {
  let at = 6 + 16 * entries.length;
  const directory = entries.flatMap(({ side, file }) => {
    const entry = [side % 256, side % 256, 0, 0, 1, 0, 32, 0, ...little(4, file.length), ...little(4, at)];
    at += file.length;
    return entry;
  });
  return bytes([0, 0, 1, 0, ...little(2, entries.length)], directory, ...entries.map(({ file }) => file));
};

export const bitmapInIcon = (width: number, height: number): Uint8Array =>
  bytes(infoHeader(width, 2 * height), new Uint8Array(64));

// AVIF

export const box = (type: string, ...parts: readonly Part[]): Uint8Array => {
  const content = bytes(...parts);
  return bytes(u32(8 + content.length), type, content);
};
const full = (type: string, version: number, ...parts: readonly Part[]): Uint8Array =>
  box(type, [version, 0, 0, 0], ...parts);

/** The AV1 image of the fixture, 33 × 17, and its `av1C`. */
const lossy = fixture('lossy.avif');
export const STREAM = lossy.subarray(find(lossy, 'mdat') + 4);
const CONFIG = lossy.subarray(find(lossy, 'av1C') - 4, find(lossy, 'av1C') + 8);

export const size = (width: number, height: number): Uint8Array => full('ispe', 0, u32(width), u32(height));
/** Cuts an image of 33 × 17 to its first rows and columns. */
export const cleanAperture = (width: number, height: number): Uint8Array =>
  box('clap', ...[width, 1, height, 1, 2 ** 32 + width - 33, 2, 2 ** 32 + height - 17, 2].map(u32));
export const rotation = (quarters: number): Uint8Array => box('irot', [quarters]);

/** Properties without which a decoder must not show an item. */
const ESSENTIAL = new Set(['av1C', 'clap', 'irot']);
const typeOf = (property: Uint8Array): string => String.fromCharCode(...property.subarray(4, 8));

export interface AvifItem {
  readonly type: 'av01' | 'grid';
  readonly data: Uint8Array;
  /** Its properties; `av1C` is added to those of an AV1 image. */
  readonly properties: readonly Uint8Array[];
  /** The items that a grid is made of, from 1 on. */
  readonly tiles?: readonly number[];
}

/** An AVIF file, the first item of which is the picture. */
export function avif(items: readonly AvifItem[]): Uint8Array {
  const properties: Uint8Array[] = [];
  const associations = items.flatMap(({ type, properties: own }, i) => {
    const all = type === 'av01' ? [...own, CONFIG] : own;
    const indices = all.map((property) => properties.push(property) + (ESSENTIAL.has(typeOf(property)) ? 0x80 : 0));
    return [...u16(i + 1), all.length, ...indices];
  });
  const build = (start: number): Uint8Array[] => {
    let at = start;
    const places = items.flatMap(({ data }, i) => {
      const place = [...u16(i + 1), 0, 0, 0, 1, ...u32(at), ...u32(data.length)];
      at += data.length;
      return place;
    });
    const references = items.flatMap(({ tiles }, i) =>
      tiles ? [...box('dimg', u16(i + 1), u16(tiles.length), tiles.flatMap(u16))] : [],
    );
    return [
      box('ftyp', 'avif', u32(0), 'avifmif1miaf'),
      full(
        'meta',
        0,
        full('hdlr', 0, u32(0), 'pict', new Uint8Array(13)),
        full('pitm', 0, u16(1)),
        full('iloc', 0, [0x44, 0], u16(items.length), places),
        full(
          'iinf',
          0,
          u16(items.length),
          ...items.map(({ type }, i) => full('infe', 2, u16(i + 1), [0, 0], type, [0])),
        ),
        ...(references.length > 0 ? [full('iref', 0, references)] : []),
        box('iprp', box('ipco', ...properties), full('ipma', 0, u32(items.length), associations)),
      ),
    ];
  };
  const head = build(0).reduce((sum, { length }) => sum + length, 0);
  return bytes(...build(head + 8), box('mdat', ...items.map(({ data }) => data)));
}

/** An AVIF of one AV1 image that declares this size. */
export const plainAvif = (width: number, height: number, ...more: readonly Uint8Array[]): Uint8Array =>
  avif([{ type: 'av01', data: STREAM, properties: [size(width, height), ...more] }]);

/** An AVIF of two AV1 images of 33 × 17, side by side in a canvas; the picture declares `width` × `height`. */
export const gridAvif = (width: number, height: number, canvasWidth = width, canvasHeight = height): Uint8Array => {
  const tile = { type: 'av01' as const, data: STREAM, properties: [size(33, 17)] };
  const grid = bytes([0, 1, 0, 1], u32(canvasWidth), u32(canvasHeight));
  return avif([{ type: 'grid', data: grid, properties: [size(width, height)], tiles: [2, 3] }, tile, tile]);
};

/** A unit of an AV1 stream. */
export const unit = (type: number, bits: string): Uint8Array => {
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '0');
  const data = padded.match(/.{8}/g)!.map((byte) => parseInt(byte, 2));
  return bytes([type * 8 + 2, data.length], data);
};

const bits = (count: number, value: number): string => value.toString(2).padStart(count, '0');

/** A sequence header; if it is not `reduced`, its frames may declare sizes of their own, of up to 2^16. */
export const sequence = (width: number, height: number, reduced = true): Uint8Array => {
  const profile = reduced ? '00011' : '00010';
  const level = bits(reduced ? 5 : 1 + 1 + 5 + 12 + 5, 0);
  const sides = bits(4, 15) + bits(4, 15) + bits(16, width - 1) + bits(16, height - 1);
  return unit(1, profile + level + sides + bits(16, 0));
};

/** The start of the header of a shown key frame. */
export const frameHeader = (overridesSize: boolean): Uint8Array => unit(3, overridesSize ? '000101' : '000100');

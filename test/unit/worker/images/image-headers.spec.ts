import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import { decodeImage } from '../../../../src/worker/images/decode.ts';
import { findOrientation } from '../../../../src/worker/images/exif.ts';
import { MAX_IMAGE_PIXELS } from '../../../../src/contract/limits.ts';
import { checkFacts, type Facts } from '../../../../src/worker/images/facts.ts';
import { readHeader } from '../../../../src/worker/images/header.ts';
import * as make from '../../../hostile-images.ts';

interface Golden {
  readonly file: string;
  readonly width: number;
  readonly height: number;
}
const goldens = Object.values(
  JSON.parse(readFileSync('test/goldens/images/expected.json', 'utf8')) as Record<string, Golden>,
);

const facts = (file: Uint8Array): Facts | undefined => readHeader(file)?.facts;
/** The size of the picture, and of the largest that a decoder may make memory for. */
const sizes = (file: Uint8Array): string => {
  const found = facts(file);
  return found ? `${found.width}×${found.height}, ${found.largest.width}×${found.largest.height}` : 'unreadable';
};
/** What is said before a decoder is started: a code, or nothing. */
function refusal(file: Uint8Array, maxPixels = MAX_IMAGE_PIXELS): string | undefined {
  const found = facts(file);
  if (!found) return 'image-decode';
  try {
    checkFacts(found, maxPixels);
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

test('every fixture has the size that Pillow reads', () => {
  expect(goldens.length).toBeGreaterThan(40);
  for (const { file, width, height } of goldens) {
    const bytes = make.fixture(file);
    const found = facts(bytes)!;
    const byExif = found.exif && (findOrientation(bytes, found.exif)?.value ?? 1) > 4 && !(width > height);
    // The decoder turns what its container says: the header's size is that of the stored picture.
    const turned = byExif || file.startsWith('irot');
    const upright = turned ? [found.height, found.width] : [found.width, found.height];
    expect.soft([file, ...upright]).toEqual([file, width, height]);
    expect.soft(found.largest, file).toEqual({ width: found.width, height: found.height });
    expect.soft(refusal(bytes), file).toBeUndefined();
  }
});

test('the channels of a JPEG, and which PNG is gray without transparency', () => {
  const gray = make.fixture('gray.png');
  const transparency = [0, 0, 0, 2, 0x74, 0x52, 0x4e, 0x53, 0, 0, 0, 0, 0, 0];
  const transparent = Uint8Array.from([...gray.subarray(0, 33), ...transparency, ...gray.subarray(33)]);
  for (const [file, channels] of [
    ['gray.jpg', 1],
    ['rgb.jpg', 3],
    ['cmyk.jpg', 4],
    ['gray.png', 1],
    ['one-bit.png', 1],
    ['gray-alpha.png', undefined],
    ['palette.png', undefined],
    ['rgb.png', undefined],
  ] as const)
    expect.soft(facts(make.fixture(file))!.channels, file).toBe(channels);
  expect(facts(transparent)).toMatchObject({ complete: true });
  expect(facts(transparent)!.channels).toBeUndefined();
});

test('a file that ends before its picture does is incomplete, wherever it ends', () => {
  // A decoder that fills in what is missing does not tell: Firefox's.
  for (const file of [
    'rgb.png',
    '420.jpg',
    'progressive.jpg',
    'rgb.webp',
    'lossy-alpha.webp',
    'rgb.bmp',
    'exif-6.png',
  ]) {
    const bytes = make.fixture(file);
    expect.soft(facts(bytes)!.complete, file).toBe(true);
    // The checksum of a PNG's last chunk, four bytes, is missed by no decoder.
    for (const missing of [file.endsWith('.png') ? 5 : 1, 20, bytes.length >> 2, bytes.length >> 1])
      expect.soft(facts(bytes.subarray(0, -missing))?.complete ?? false, `${file} without ${missing}`).toBe(false);
  }
  // Of an animation the first frame is decoded, and must be there.
  const animated = make.fixture('animated.gif');
  expect(facts(animated)!.complete).toBe(true);
  expect(facts(animated.subarray(0, -1))!.complete).toBe(true);
  expect(facts(make.fixture('truncated-animated.gif'))!.complete).toBe(false);
  // What follows the picture does not matter.
  expect(facts(make.bytes(make.fixture('420.jpg'), [1, 2, 3]))!.complete).toBe(true);
  for (const { file } of goldens)
    expect.soft(facts(make.fixture(file))!.complete !== false, file).toBe(file !== 'no-eoi.jpg');
});

// What Chromium 156 does with these files was measured; the numbers are sizes that it decodes to, or makes memory for.
test('a JPEG is read as libjpeg reads it', () => {
  const gray = make.fixture('gray.jpg');
  const frame = make.find(gray, '\xff\xc0');
  const thumbnail = make.jpeg(60_000, 60_000);
  const segment = (marker: number, data: Uint8Array): Uint8Array =>
    make.bytes([0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 255], data);
  const cases: Readonly<Record<string, Uint8Array>> = {
    'as it is': gray,
    'a junk byte between its segments': make.insert(gray, make.find(gray, '\xff\xdb'), 'A'),
    'junk with stuffed bytes': make.insert(gray, frame, [0xff, 0, 0xff, 0xff, 0, 7]),
    'fill bytes': make.insert(gray, frame, [0xff, 0xff, 0xff]),
    'markers without a segment': make.insert(gray, 2, [0xff, 0xd3, 0xff, 1]),
    'a segment that is shorter than its own length': make.insert(gray, 2, [0xff, 0xe5, 0, 0]),
    'a thumbnail of another size': make.insert(gray, 2, segment(0xe0, thumbnail)),
    'another image behind its end': make.bytes(gray, thumbnail),
  };
  for (const [name, file] of Object.entries(cases)) expect.soft([name, sizes(file)]).toEqual([name, '33×17, 33×17']);
  expect(sizes(make.insert(gray, frame, thumbnail.subarray(frame, frame + 13)))).toBe('60000×60000, 60000×60000');
  expect(sizes(make.insert(gray, gray.length - 2, thumbnail.subarray(frame, frame + 13)))).toBe('33×17, 60000×60000');
  expect(sizes(make.jpeg(33, 0))).toBe('unreadable');
  const turned = make.fixture('exif-6.jpg');
  const segmentStart = make.find(turned, '\xff\xe1');
  const exif = turned.subarray(
    segmentStart,
    segmentStart + 2 + turned[segmentStart + 2]! * 256 + turned[segmentStart + 3]!,
  );
  expect(facts(make.insert(gray, frame + 13, exif))?.exif).toBeDefined();
  // No decoder looks for an orientation behind the first scan.
  expect(facts(make.insert(gray, gray.length - 2, exif))?.exif).toBeUndefined();
});

test('the pixels of a JPEG count once for every scan', () => {
  expect(facts(make.fixture('gray.jpg'))!.scans).toBe(1);
  expect(facts(make.fixture('progressive.jpg'))!.scans).toBe(10);
  expect(facts(make.jpegWithScans(100, 500))!.scans).toBe(510);
  // A photo of 12 megapixels may have more scans than any encoder makes; a picture at the limit has few.
  expect(refusal(make.jpegWithScans(3464, 90))).toBeUndefined();
  expect(refusal(make.jpegWithScans(10_000, 2))).toBeUndefined();
  expect(refusal(make.jpegWithScans(10_000, 3))).toBe('image-too-large');
  expect(refusal(make.jpegWithScans(3464, 2), 3464 ** 2)).toBeUndefined();
  expect(refusal(make.jpegWithScans(3464, 3), 3464 ** 2)).toBe('image-too-large');
});

test('a GIF is as large as its screen, or as its first frame', () => {
  const frame = { width: 5, height: 6 };
  expect(sizes(make.gif(10, 10, frame))).toBe('10×10, 10×10');
  expect(sizes(make.gif(10, 10, { ...frame, left: 4, top: 7 }))).toBe('10×13, 10×13');
  expect(sizes(make.gif(0, 0, frame))).toBe('5×6, 5×6');
  expect(sizes(make.gif(1, 1, { width: 20_000, height: 20_000 }))).toBe('20000×20000, 20000×20000');
  expect(sizes(make.gif(10, 10, frame, { ...frame, left: 60_000, top: 60_000 }))).toBe('10×10, 60005×60006');
  expect(sizes(make.gif(10, 10))).toBe('unreadable');
});

test('a PNG has its header first, and its frames count', () => {
  expect(sizes(make.png(4, 4))).toBe('4×4, 4×4');
  expect(sizes(make.png(4, 4, make.animation(2 ** 31 - 1), make.frameControl(4, 4)))).toBe('4×4, 4×4');
  expect(sizes(make.png(4, 4, make.animation(1), make.frameControl(20_000, 20_000)))).toBe('4×4, 20000×20000');
  expect(sizes(make.png(0, 4))).toBe('unreadable');
  expect(sizes(make.insert(make.png(4, 4), 8, make.chunk('juNk', 'x')))).toBe('unreadable');
});

test('a WebP counts its canvas, its bitstream and its frames', () => {
  expect(sizes(make.riff(make.lossless(16_384, 16_384)))).toBe('16384×16384, 16384×16384');
  expect(sizes(make.riff(make.canvas(8, 8), make.lossless(16_384, 16_384)))).toBe('8×8, 16384×16384');
  const frame = make.webpFrame(8, 8, make.lossless(8, 8));
  expect(sizes(make.riff(make.canvas(16_777_216, 9, 2), frame))).toBe('16777216×9, 16777216×9');
  expect(sizes(make.riff(make.canvas(8, 8, 2), frame))).toBe('8×8, 8×8');
  expect(sizes(make.riff(make.canvas(8, 8, 2), make.webpFrame(9000, 8, make.lossless(8, 8))))).toBe('8×8, 9000×8');
  expect(sizes(make.riff(make.canvas(8, 8, 2), make.webpFrame(8, 8, make.lossless(9000, 8))))).toBe('8×8, 9000×8');
  expect(sizes(make.riff(make.canvas(8, 8)).subarray(0, 25))).toBe('unreadable');
});

test('a BMP may be stored from the top or compressed, but has no other file inside', () => {
  expect(sizes(make.bmp(4, -5))).toBe('4×5, 4×5');
  expect(sizes(make.bmp(20_000, 20_000, 1))).toBe('20000×20000, 20000×20000');
  expect(sizes(make.bmp(4, -(2 ** 31)))).toBe('4×2147483648, 4×2147483648');
  for (const file of [make.bmp(-4, 5), make.bmp(4, 0), make.bmp(4, 4, 4), make.bmp(4, 4, 5)])
    expect(sizes(file)).toBe('unreadable');
});

test('an icon is as large as its largest picture says inside', () => {
  const four = { side: 4, file: make.png(4, 4) };
  expect(sizes(make.icon(four, { side: 16, file: make.bitmapInIcon(16, 16) }))).toBe('16×16, 16×32');
  expect(sizes(make.icon({ side: 256, file: make.png(256, 256) }))).toBe('256×256, 256×256');
  expect(sizes(make.icon(four, { side: 4, file: make.png(20_000, 20_000) }))).toBe('4×4, 20000×20000');
  expect(sizes(make.icon())).toBe('unreadable');
});

test('an AVIF counts what it declares, its AV1 images, and the canvas of a grid', () => {
  expect(sizes(make.plainAvif(33, 17))).toBe('33×17, 33×17');
  expect(sizes(make.gridAvif(66, 17))).toBe('66×17, 66×17');
  expect(sizes(make.gridAvif(66, 17, 60_000, 17))).toBe('66×17, 60000×17');
  // A decoder would scale the image to what the file declares.
  expect(sizes(make.plainAvif(16_384, 10_000))).toBe('unreadable');
  const stream = (...units: readonly Uint8Array[]): Uint8Array =>
    make.avif([{ type: 'av01', data: make.bytes(...units), properties: [make.size(33, 17)] }]);
  expect(sizes(stream(make.sequence(33, 17)))).toBe('33×17, 33×17');
  expect(sizes(stream(make.sequence(33, 17), make.sequence(60_000, 60_000)))).toBe('33×17, 60000×60000');
  expect(sizes(stream(make.sequence(33, 17, false), make.frameHeader(false)))).toBe('33×17, 33×17');
  expect(sizes(stream(make.sequence(33, 17, false), make.frameHeader(true)))).toBe('33×17, 65536×65536');
  expect(sizes(stream(make.unit(5, '0')))).toBe('unreadable');
  expect(facts(make.plainAvif(33, 17, make.cleanAperture(20, 10)))!.cut).toEqual({ width: 20, height: 10 });
});

test('a box of a wrong size, a missing or a second one is unreadable', () => {
  const file = make.plainAvif(33, 17);
  const meta = make.find(file, 'meta') - 4;
  const { length } = make.bytes(file);
  expect(sizes(make.patch(file, meta, [0, 0, 0, 7]))).toBe('unreadable');
  expect(sizes(make.patch(file, meta, [0xff, 0xff, 0xff, 0xff]))).toBe('unreadable');
  expect(sizes(make.patch(file, make.find(file, 'mdat') - 4, [0, 0, 0, 0]))).toBe('33×17, 33×17');
  expect(sizes(make.bytes(file, [0, 0, 0, 1], 'free', [0x80, 0, 0, 0, 0, 0, 0, 0]))).toBe('unreadable');
  expect(sizes(make.bytes(file, [0, 0, 0, 1], 'free', [0, 0, 0, 0, 0, 0, 0, 16]))).toBe('33×17, 33×17');
  expect(sizes(make.bytes(file, file.subarray(meta)))).toBe('unreadable');
  for (const type of ['meta', 'pitm', 'iprp', 'ispe'])
    expect.soft(sizes(make.patch(file, make.find(file, type), 'xxxx')), type).toBe('unreadable');
  expect(sizes(file.subarray(0, length - 1))).toBe('unreadable');
});

const FIXTURES = [...new Set(goldens.map(({ file }) => file)), 'bomb.png'].map((name) => make.fixture(name));
const MADE = [
  make.gif(10, 10, { width: 5, height: 6 }),
  make.png(4, 4, make.animation(1), make.frameControl(4, 4)),
  make.riff(make.canvas(8, 8, 2), make.webpFrame(8, 8, make.lossless(8, 8))),
  make.icon({ side: 4, file: make.png(4, 4) }),
  make.gridAvif(66, 17),
  make.jpegWithScans(100, 5),
];

test('whatever is changed in a file: its header is read or it is not, and what is decoded is counted', () => {
  const edit = fc.record({ at: fc.nat(), to: fc.nat(255) });
  fc.assert(
    fc.property(
      fc.constantFrom(...FIXTURES, ...MADE),
      fc.array(edit, { maxLength: 8 }),
      fc.option(fc.nat(), { freq: 4 }),
      (file, edits, cut) => {
        const copy = Uint8Array.from(file);
        for (const { at, to } of edits) copy[at % Math.min(copy.length, 600)] = to;
        const found = facts(cut === null ? copy : copy.subarray(0, cut % copy.length));
        if (!found) return true;
        const { width, height, largest } = found;
        return width * height > 0 && largest.width * largest.height >= width * height;
      },
    ),
    { numRuns: 2000 },
  );
});

test('a header of megabytes is read in a time that is linear in its length', () => {
  const long = (part: readonly number[], count = 2 ** 17): Uint8Array => {
    const all = new Uint8Array(part.length * count);
    for (let i = 0; i < count; i++) all.set(part, i * part.length);
    return all;
  };
  const join = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));
  const inMeta = (type: string, content: Uint8Array): Uint8Array => {
    const wrap = (type: string, data: Uint8Array): Uint8Array => {
      const head = new Uint8Array(8);
      new DataView(head.buffer).setUint32(0, data.length + 8);
      head.set(
        [...type].map((c) => c.charCodeAt(0)),
        4,
      );
      return join(head, data);
    };
    return join(
      make.box('ftyp', 'avif', 'avif'),
      wrap('meta', join(new Uint8Array(4), make.box('iinf', new Uint8Array(6)), wrap(type, content))),
    );
  };
  const files: Readonly<Record<string, Uint8Array>> = {
    'fill bytes': join(make.bytes('\xff\xd8\xff'), long([0xff])),
    'stuffed bytes': join(make.bytes('\xff\xd8\xff'), long([0xff, 0])),
    'empty segments': join(make.bytes('\xff\xd8'), long([0xff, 0xe1, 0, 2])),
    scans: join(make.jpeg(1000, 1000), long([0xff, 0xda, 0, 2])),
    'frames of a JPEG': join(make.fixture('gray.jpg').subarray(0, -2), long([0xff, 0xc0, 0, 7, 8, 0, 1, 0, 1])),
    'empty chunks': join(make.png(4, 4), long([0, 0, 0, 0, 65, 65, 65, 65, 0, 0, 0, 0])),
    'frames of a GIF': join(
      make.gif(1, 1, { width: 1, height: 1 }).subarray(0, -1),
      long([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 0]),
    ),
    'extensions of a GIF': join(make.gif(1, 1).subarray(0, -1), long([0x21, 0xf9, 0])),
    'frames of a WebP': join(
      make.riff(make.canvas(8, 8)),
      long([...make.webpFrame(1, 1, make.lossless(1, 1))], 2 ** 16),
    ),
    'entries of an icon': join(make.icon(...Array.from({ length: 4000 }, () => ({ side: 1, file: make.png(1, 1) })))),
    boxes: inMeta('iprp', long([0, 0, 0, 8, 65, 65, 65, 65])),
    'places without a length': inMeta(
      'iloc',
      join(make.bytes([0, 0, 0, 0, 0, 0, 0xff, 0xff]), long([0, 1, 0, 0, 0xff, 0xff])),
    ),
    associations: inMeta('iprp', long([...make.box('ipma', [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 9, 0])], 2 ** 17)),
    'sequence headers': make.avif([
      { type: 'av01', data: make.bytes(make.sequence(33, 17)), properties: [make.size(33, 17)] },
    ]),
  };
  for (const [name, file] of Object.entries(files)) {
    const started = process.cpuUsage();
    readHeader(file);
    // Microseconds of the processor, which a busy machine does not change: ten times what it takes; a quadratic time is
    // minutes.
    expect.soft(process.cpuUsage(started).user, name).toBeLessThan(2_000_000);
  }
});

test('images of one file that share their bytes are refused', () => {
  const tile = { type: 'av01' as const, data: make.STREAM, properties: [make.size(33, 17)] };
  const file = make.avif([tile, tile, tile, tile, tile, tile, tile, tile]);
  expect(sizes(file)).toBe('33×17, 33×17');
  const places = make.find(file, 'iloc') + 12;
  const first = file.slice(places + 6, places + 14);
  let shared = file;
  for (let item = 1; item < 8; item++)
    shared = make.patch(shared, places + 14 * item + 6, [...first.slice(0, 4), 0, 0, 0, 0]);
  expect(sizes(shared)).toBe('unreadable');
});

test('a format whose decoder cannot be limited is named and not decoded', () => {
  for (const [start, name] of [
    ['\xff\n\0\0', 'a JPEG XL'],
    ['II*\0\x08\0\0\0', 'a TIFF'],
  ] as const)
    expect(readHeader(make.bytes(start))).toEqual({ name, type: undefined, facts: undefined });
});

test('a decoder is started for what may be decoded, and what it makes of another size is closed', async () => {
  const decoded: { width: number; height: number; closed: boolean }[] = [];
  let sides = [33, 17];
  const global = globalThis as { createImageBitmap?: unknown };
  global.createImageBitmap = () => {
    const bitmap = { width: sides[0], height: sides[1], closed: false, close: () => (bitmap.closed = true) };
    decoded.push(bitmap as never);
    return Promise.resolve(bitmap);
  };
  const open = async (file: Uint8Array): Promise<string> => {
    try {
      const { width, height } = await decodeImage(new Blob([file as BlobPart]));
      return `${width}×${height}`;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  try {
    for (const [file, code] of [
      [make.jpeg(20_000, 20_000), 'image-too-large'],
      [make.jpegWithScans(10_000, 3), 'image-too-large'],
      [make.plainAvif(16_384, 16_384), 'image-decode'],
      [make.bytes('anything at all'), 'image-decode'],
      [make.bytes([1, 2, 3]), 'image-decode'],
      [make.bytes('\xff\n\0\0'), 'image-decode'],
    ] as const)
      expect(await open(file)).toBe(code);
    expect(decoded).toEqual([]);
    expect(await open(make.fixture('gray.jpg'))).toBe('33×17');
    sides = [17, 33];
    expect(await open(make.plainAvif(33, 17, make.rotation(1)))).toBe('17×33');
    sides = [20, 10];
    expect(await open(make.plainAvif(33, 17, make.cleanAperture(20, 10)))).toBe('20×10');
    expect(await open(make.fixture('gray.jpg'))).toBe('image-decode');
    expect(decoded.map(({ closed }) => closed)).toEqual([false, false, false, true]);
  } finally {
    delete global.createImageBitmap;
  }
});

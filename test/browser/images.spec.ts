import type { Page } from '@playwright/test';
import type { DecodeOptions, DecodedImage, ImageInput, Rect } from '../../src/contract/images.ts';
import type { prepare as Prepare } from '../../src/page/requests/inputs.ts';
import { fixture as readFixture } from '../hostile-images.ts';
import { expectedPixels, FAILURES, GOLDENS, HEIC, PICTURES, type Golden } from '../image-facts.ts';
import { expect, test } from './fixtures.ts';

interface Images {
  decodeImage(source: ImageInput, options?: DecodeOptions): Promise<DecodedImage>;
  prepare: typeof Prepare;
}
declare const images: Images;

interface Read {
  width: number;
  height: number;
  /** RGB. */
  pixels: number[];
}

/** Runs in the realm under test, which gets helpers beside `images`. */
const helpers = `
  globalThis.fixture = async (name) => new Blob([await (await fetch('/test/goldens/images/' + name)).arrayBuffer()]);
  globalThis.rgb = ({ format, width, height, stride, data }) => {
    const [step, r, g, b] = { RGB: [3, 0, 1, 2], BGR: [3, 2, 1, 0], RGBX: [4, 0, 1, 2], BGRX: [4, 2, 1, 0], L: [1, 0, 0, 0] }[format];
    const pixels = [];
    for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) for (const c of [r, g, b]) pixels.push(data[y * stride + x * step + c]);
    return pixels;
  };
  globalThis.readAll = async (source, options, rect) => {
    const image = await images.decodeImage(source, options);
    const { width, height } = image;
    const pixels = rgb(await image.read(rect));
    image.close();
    return { width, height, pixels };
  };
  globalThis.failure = async (work) => {
    try { await work(); } catch (error) { return { code: error.code, message: error.message, cause: error.cause === undefined ? undefined : String(error.cause) }; }
    return undefined;
  };
`;
interface Failure {
  code: string;
  message: string;
  cause?: string;
}
declare function cross(message: { value: unknown; transferables: readonly Transferable[] }): Promise<Read>;
declare function fixture(name: string): Promise<Blob>;
declare function readAll(source: ImageInput, options?: DecodeOptions, rect?: Rect): Promise<Read>;
declare function failure(work: () => unknown): Promise<Failure | undefined>;

const NO_WORKER_REALM = 'Playwright cannot evaluate in a worker of Firefox; other tests decode in one';

/** A page or a worker. */
type Realm = Pick<Page, 'evaluate'>;

async function open(page: Page, realm: 'page' | 'worker'): Promise<Realm> {
  const started = realm === 'worker' ? page.waitForEvent('worker') : undefined;
  await page.goto(`/test/browser/pages/images.html${realm === 'worker' ? '?worker' : ''}`);
  const target = ((await started) ?? page) as Realm;
  for (;;) {
    const ready = await target.evaluate(() => 'images' in globalThis);
    if (ready) break;
  }
  await target.evaluate(helpers);
  return target;
}

const read = (realm: Realm, file: string, options: DecodeOptions = {}, rect?: Rect): Promise<Read> =>
  realm.evaluate(async ([file, options, rect]) => readAll(await fixture(file), options, rect), [
    file,
    options,
    rect,
  ] as const);

const readBytes = (realm: Realm, bytes: Uint8Array, options: DecodeOptions): Promise<Read> =>
  realm.evaluate(([list, options]) => readAll(new Blob([Uint8Array.from(list)]), options), [
    [...bytes],
    options,
  ] as const);

function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length);
  let largest = 0;
  for (let i = 0; i < a.length; i++) largest = Math.max(largest, Math.abs(a[i]! - b[i]!));
  return largest;
}

function crop(all: ArrayLike<number>, width: number, rect: Rect): number[] {
  const part: number[] = [];
  for (let y = rect.y; y < rect.y + rect.height; y++)
    for (let i = rect.x * 3; i < (rect.x + rect.width) * 3; i++) part.push(all[y * width * 3 + i]!);
  return part;
}

/**
 * How far Firefox's decoders are from Pillow: they premultiply alpha, round 16 bits to 8, and convert AVIF's colors in
 * their own way.
 */
const FIREFOX: readonly [files: RegExp, tolerance: number][] = [
  [/alpha|palette|rgb16/, 1],
  [/avif/, 9],
];

function toleranceOf({ file, tolerance }: Golden, browserName: string): number {
  const found = browserName === 'firefox' ? FIREFOX.find(([files]) => files.test(file)) : undefined;
  return found?.[1] ?? tolerance;
}

/** Odd and even places, edges and corners. */
const parts = ({ width, height }: Read): Rect[] => [
  { x: 0, y: 0, width: 1, height: 1 },
  { x: width - 1, y: height - 1, width: 1, height: 1 },
  { x: 3, y: 5, width: 7, height: 9 },
  { x: 4, y: 2, width: 6, height: 8 },
  { x: 1, y: 0, width: width - 1, height },
  { x: 0, y: 1, width, height: height - 2 },
];

/** What the test frames show: gray that grows to the right and down. */
const luma = (x: number, y: number): number => 20 + x * 8 + y * 12;

for (const where of ['worker', 'page'] as const) {
  test.describe(`images in a ${where} @once`, () => {
    let realm: Realm;
    test.beforeEach(async ({ page, browserName }) => {
      test.skip(browserName === 'firefox' && where === 'worker', NO_WORKER_REALM);
      realm = await open(page, where);
    });

    test('every picture has the pixels that Pillow reads @firefox', async ({ browserName }) => {
      for (const { name, bytes, golden } of PICTURES) {
        const got = await readBytes(realm, bytes, { exifOrientation: golden.exif, background: golden.background });
        expect.soft([name, got.width, got.height]).toEqual([name, golden.width, golden.height]);
        expect
          .soft(largestDifference(got.pixels, expectedPixels(golden)), name)
          .toBeLessThanOrEqual(toleranceOf(golden, browserName));
      }
    });

    test(`any part of an image is that part of all of it${where === 'page' ? ' @full' : ''}`, async () => {
      for (const name of [
        '420.jpg',
        '422.jpg',
        '444.jpg',
        'lossy.webp',
        'lossy.avif',
        'alpha.png',
        'exif-2.jpg',
        'exif-5.jpg',
        'exif-6.jpg',
        'exif-7.jpg',
        'exif-8-alpha.png',
      ]) {
        const all = await read(realm, name);
        for (const rect of parts(all)) {
          const part = await read(realm, name, {}, rect);
          expect.soft(part.pixels, `${name} ${JSON.stringify(rect)}`).toEqual(crop(all.pixels, all.width, rect));
        }
      }
    });

    test('the error for a file without a picture says why @firefox', async () => {
      for (const { name, bytes, message } of FAILURES) {
        const error = await realm.evaluate(
          async (list) => failure(async () => readAll(new Blob([Uint8Array.from(list)]))),
          [...bytes],
        );
        expect.soft(error, name).toMatchObject({ code: 'image-decode', message: expect.stringMatching(message) });
      }
    });

    test('a HEIC is named, with what to do @firefox', async () => {
      const error = await realm.evaluate(
        async (list) => failure(async () => readAll(new Blob([Uint8Array.from(list)]))),
        [...HEIC],
      );
      expect(error).toMatchObject({
        code: 'image-decode',
        message: expect.stringMatching(/^The image is a HEIC, which Safari alone decodes .*Save it as a JPEG/),
      });
    });

    test('a picture at the limit is decoded; a side longer than the browser decodes is named', async ({
      browserName,
    }) => {
      test.skip(browserName === 'firefox', 'the limit is Chromium’s');
      const results = await realm.evaluate(async () => {
        const deflated = async (bytes: Uint8Array<ArrayBuffer>) =>
          new Uint8Array(
            await new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'))).arrayBuffer(),
          );
        const crcOf = (bytes: Uint8Array) => {
          let crc = -1;
          for (const byte of bytes) {
            crc ^= byte;
            for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
          }
          return ~crc;
        };
        const chunk = (type: string, data: Uint8Array) => {
          const bytes = new Uint8Array(12 + data.length);
          const view = new DataView(bytes.buffer);
          view.setUint32(0, data.length);
          bytes.set(
            [...type].map((one) => one.charCodeAt(0)),
            4,
          );
          bytes.set(data, 8);
          view.setInt32(8 + data.length, crcOf(bytes.subarray(4, 8 + data.length)));
          return bytes;
        };
        /** A black picture of one bit a pixel. */
        const black = async (width: number, height: number) => {
          const header = new Uint8Array(13);
          const view = new DataView(header.buffer);
          view.setUint32(0, width);
          view.setUint32(4, height);
          header[8] = 1;
          const pixels = await deflated(new Uint8Array((1 + Math.ceil(width / 8)) * height));
          const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
          return new Blob([signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', new Uint8Array(0))]);
        };
        const most = await images.decodeImage(await black(12_800, 8_000));
        const corner = await most.read({ x: 12_799, y: 7_999, width: 1, height: 1 });
        most.close();
        return {
          corner: corner.data.slice(0, 4).join(),
          long: await failure(async () => await readAll(await black(4, 40_000))),
          many: await failure(async () => await readAll(await black(12_801, 8_000))),
        };
      });
      expect(results.corner).toBe('0,0,0,255');
      expect(results.long).toMatchObject({
        code: 'image-too-large',
        message: expect.stringMatching(/4 × 40000 pixels, .* at most 32767/),
      });
      expect(results.many).toMatchObject({ code: 'image-too-large' });
    });

    test('too large an image is refused by its header', async () => {
      const refuse = (file: string, maxPixels?: number): Promise<Failure | undefined> =>
        realm.evaluate(
          async ([file, maxPixels]) => {
            const blob = await fixture(file);
            const decoder = globalThis.ImageDecoder;
            globalThis.ImageDecoder = function decoded() {
              throw new Error('decoded');
            } as never;
            const result = await failure(() => images.decodeImage(blob, maxPixels === undefined ? {} : { maxPixels }));
            globalThis.ImageDecoder = decoder;
            return result;
          },
          [file, maxPixels] as const,
        );
      expect(await refuse('bomb.png')).toMatchObject({
        code: 'image-too-large',
        message: expect.stringMatching(/60000 × 60000 = 3600000000 .*102400000/),
      });
      for (const file of [
        '420.jpg',
        'progressive.jpg',
        'rgb.png',
        'rgb.webp',
        'lossy.webp',
        'exif-6.webp',
        'animated.gif',
        'rgb.bmp',
        'lossy.avif',
      ]) {
        expect
          .soft(await refuse(file, 560), file)
          .toMatchObject({ code: 'image-too-large', message: expect.stringMatching(/33 × 17 = 561/) });
      }
      const small = await realm.evaluate(
        async () => (await images.decodeImage(await fixture('lossy.avif'), { maxPixels: 561 })).width,
      );
      expect(small).toBe(33);
    });

    test('things drawn and arrays are read as they are, and stay open', async () => {
      const result = await realm.evaluate(async () => {
        const blob = await fixture('rgb.png');
        const bitmap = await createImageBitmap(blob);
        const canvas = new OffscreenCanvas(33, 17);
        const context = canvas.getContext('2d')!;
        context.drawImage(bitmap, 0, 0);
        const data = context.getImageData(0, 0, 33, 17);
        const frame = new VideoFrame(bitmap, { timestamp: 0 });
        const rgba = { data: new Uint8Array(data.data), dims: [17, 33, 4] };
        const rgb = {
          data: new Uint8ClampedArray(17 * 33 * 3).map((_, i) => data.data[Math.floor(i / 3) * 4 + (i % 3)]!),
          dims: [17, 33, 3],
        };
        const gray = {
          data: new Uint8Array(17 * 33).map((_, i) => data.data[i * 4]!),
          dims: [17, 33, 1],
          dtype: 'uint8' as const,
        };
        const reads: Record<string, unknown> = {};
        for (const [name, source] of Object.entries({ bitmap, canvas, data, frame, rgba, rgb, gray })) {
          reads[name] = [await readAll(source), await readAll(source, {}, { x: 3, y: 2, width: 5, height: 4 })];
        }
        return { reads: reads as Record<string, [Read, Read]>, open: [bitmap.width, canvas.width, frame.codedWidth] };
      });
      const all = [...expectedPixels(GOLDENS['rgb.png']!)];
      for (const [name, [whole, part]] of Object.entries(result.reads)) {
        const right = name === 'gray' ? all.map((_, i) => all[i - (i % 3)]!) : all;
        expect.soft(whole, name).toEqual({ width: 33, height: 17, pixels: right });
        expect.soft(part.pixels, name).toEqual(crop(right, 33, { x: 3, y: 2, width: 5, height: 4 }));
      }
      expect(result.open).toEqual([33, 33, 33]);
    });

    test('pixel objects keep the size in which they are shown, and their pixel format', async () => {
      const reads = await realm.evaluate(async () => {
        // Left black, right white, each pixel twice as wide as high.
        const data = new Uint8Array(8 * 4 * 4).map((_, at) => (at % 4 === 3 || Math.floor(at / 4) % 8 >= 4 ? 255 : 0));
        const frame = new VideoFrame(data, {
          format: 'RGBA',
          codedWidth: 8,
          codedHeight: 4,
          displayWidth: 16,
          displayHeight: 4,
          timestamp: 0,
        });
        const readFloats = async (): Promise<Read | undefined> => {
          // Firefox has no such pixels.
          if (navigator.userAgent.includes('Firefox')) return undefined;
          const image = new ImageData(2, 1, { pixelFormat: 'rgba-float16' } as ImageDataSettings);
          image.data.set([0, 0.5, 1, 1, 220 / 255, 0, 0, 1]);
          // Only a page prepares inputs.
          const sent = 'prepare' in images ? (await images.prepare(image)).message()!.value : image;
          return await readAll(sent as ImageData);
        };
        return { frame: await readAll(frame), image: await readFloats() };
      });
      expect([reads.frame.width, reads.frame.height]).toEqual([16, 4]);
      for (const x of [0, 6, 9, 15]) expect(reads.frame.pixels[x * 3], `column ${x}`).toBe(x < 8 ? 0 : 255);
      if (reads.image) expect(reads.image.pixels).toEqual([0, 128, 255, 220, 0, 0]);
    });

    test('colors of Display P3 become those of sRGB, by the matrices of CSS Color 4', async () => {
      const reads = await realm.evaluate(async () => {
        const data = new Uint8ClampedArray([204, 102, 77, 255]);
        const image = new ImageData(data, 1, 1, { colorSpace: 'display-p3' });
        if (image.colorSpace !== 'display-p3') return undefined;
        const bitmap = await createImageBitmap(image);
        const frame = new VideoFrame(bitmap, { timestamp: 0 });
        const canvas = new OffscreenCanvas(1, 1);
        canvas.getContext('2d', { colorSpace: 'display-p3' })!.putImageData(image, 0, 0);
        // Only a page prepares inputs.
        const sent = 'prepare' in images ? (await images.prepare(image)).message()!.value : image;
        const all: Record<string, Read> = {};
        for (const [name, source] of Object.entries({ image, sent: sent as ImageData, bitmap, frame, canvas }))
          all[name] = await readAll(source);
        return all;
      });
      test.skip(reads === undefined, 'Firefox keeps no color space of pixels');
      for (const [name, { pixels }] of Object.entries(reads!))
        expect.soft(largestDifference(pixels, [219, 94, 69]), name).toBeLessThanOrEqual(1);
    });

    test('transparency of bitmaps, canvases and arrays is composited', async () => {
      const reads = await realm.evaluate(async () => {
        const blob = await fixture('alpha.png');
        const data = new Uint8Array([200, 100, 0, 128, 1, 2, 3, 0]);
        const image = new ImageData(new Uint8ClampedArray(data), 2, 1);
        const straight = await createImageBitmap(blob, { premultiplyAlpha: 'none' });
        const premultiplied = await createImageBitmap(blob, { premultiplyAlpha: 'premultiply' });
        const array = await readAll({ data, dims: [1, 2, 4] });
        return {
          array,
          image: await readAll(image, { background: [0, 0, 255] }),
          straight: await readAll(straight),
          premultiplied: await readAll(premultiplied),
          untouched: [...data],
        };
      });
      expect(reads.array.pixels).toEqual([227, 177, 127, 255, 255, 255]);
      expect(reads.image.pixels).toEqual([100, 50, 127, 0, 0, 255]);
      expect(reads.untouched).toEqual([200, 100, 0, 128, 1, 2, 3, 0]);
      for (const name of ['straight', 'premultiplied'] as const) {
        expect
          .soft(largestDifference(reads[name].pixels, expectedPixels(GOLDENS['alpha.png']!)), name)
          .toBeLessThanOrEqual(1);
      }
    });

    test('frames of every format are read, at odd places too, and turned as they declare @firefox', async ({
      browserName,
    }) => {
      // What Firefox's VideoFrame does not have: these formats, and a rotation.
      const lacking = browserName === 'firefox' ? ['I422', 'I444'] : [];
      const results = await realm.evaluate(async (lacking) => {
        const width = 16;
        const height = 8;
        const sizes = { I420: 1.5, NV12: 1.5, I422: 2, I444: 3, I420A: 2.5, RGBA: 4, RGBX: 4, BGRA: 4, BGRX: 4 };
        const out: Record<string, { all: Read; part: Read }> = {};
        for (const [format, size] of Object.entries(sizes)) {
          // Firefox refuses to convert the lower part of a frame that is cut.
          const uncut = lacking.length > 0;
          const part = uncut && size < 4 ? { x: 3, y: 3, width: 3, height: 2 } : { x: 1, y: 1, width: 3, height: 2 };
          if (lacking.includes(format)) continue;
          // Neutral chroma, opaque.
          const data = new Uint8Array(width * height * size).fill(128);
          for (let i = 0; i < width * height; i++) {
            const gray = 20 + (i % width) * 8 + Math.floor(i / width) * 12;
            if (size === 4) data.set([gray, gray, gray, 255], i * 4);
            else data[i] = gray;
          }
          if (format === 'I420A') data.fill(255, width * height * 1.5);
          const frame = new VideoFrame(data, {
            format: format as VideoPixelFormat,
            codedWidth: width,
            codedHeight: height,
            timestamp: 0,
            colorSpace: { fullRange: true, matrix: 'smpte170m', primaries: 'bt709', transfer: 'iec61966-2-1' },
          });
          const cut = new VideoFrame(frame, { timestamp: 0, visibleRect: { x: 2, y: 2, width: 12, height: 4 } });
          out[format] = {
            all: await readAll(frame),
            part: await readAll(uncut && size < 4 ? frame : cut, {}, part),
          };
          frame.close();
          cut.close();
        }
        const turned = new VideoFrame(new Uint8Array(8 * 4), {
          format: 'RGBX',
          codedWidth: 4,
          codedHeight: 2,
          timestamp: 0,
          rotation: 90,
        } as VideoFrameBufferInit);
        const upright = await images.decodeImage(turned);
        const coded = await images.decodeImage(turned, { exifOrientation: false });
        turned.close();
        return { out, upright: [upright.width, upright.height], coded: [coded.width, coded.height] };
      }, lacking);
      for (const [format, { all, part }] of Object.entries(results.out)) {
        const right = Array.from({ length: 16 * 8 }, (_, i) =>
          Array(3).fill(luma(i % 16, Math.floor(i / 16))),
        ).flat() as number[];
        expect.soft(largestDifference(all.pixels, right), format).toBeLessThanOrEqual(1);
        expect
          .soft(largestDifference(part.pixels, crop(right, 16, { x: 3, y: 3, width: 3, height: 2 })), `${format} cut`)
          .toBeLessThanOrEqual(1);
      }
      expect(results.upright).toEqual(browserName === 'firefox' ? [4, 2] : [2, 4]);
      expect(results.coded).toEqual([4, 2]);
    });

    test('camera frames are converted as Chromium converts them, bit for bit', async ({ browserName }) => {
      test.skip(browserName === 'firefox', 'Firefox converts them in another way.');
      test.skip(process.arch !== 'x64', 'On other processors, libyuv may round in another way.');
      const wrong = await realm.evaluate(async () => {
        const [width, height] = [64, 48];
        const wrong: string[] = [];
        let seed = 1;
        const byte = (): number => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) >>> 24;
        for (const format of ['I420', 'NV12'] as const)
          for (const matrix of ['smpte170m', 'bt470bg', 'bt709'] as const)
            for (const fullRange of [false, true])
              for (const [primaries, transfer] of [
                ['smpte170m', 'smpte170m'],
                ['bt709', 'bt709'],
                ['bt709', 'iec61966-2-1'],
                // These the browser converts.
                ['bt470bg', 'bt709'],
              ] as const) {
                const frame = new VideoFrame(Uint8Array.from({ length: width * height * 1.5 }, byte), {
                  format,
                  codedWidth: width,
                  codedHeight: height,
                  timestamp: 0,
                  colorSpace: { matrix, primaries, transfer, fullRange },
                });
                const right = new Uint8Array(width * height * 4);
                await frame.copyTo(right, { format: 'RGBA' } as VideoFrameCopyToOptions);
                for (const rect of [undefined, { x: 3, y: 5, width: 21, height: 30 }]) {
                  const { x, y, width: columns } = rect ?? { x: 0, y: 0, width };
                  const { pixels } = await readAll(frame, {}, rect);
                  const same = pixels.every((value, i) => {
                    const at = Math.floor(i / 3);
                    return value === right[((y + Math.floor(at / columns)) * width + x + (at % columns)) * 4 + (i % 3)];
                  });
                  if (!same)
                    wrong.push(`${format} ${matrix} ${fullRange} ${primaries} ${transfer} ${rect ? 'part' : ''}`);
                }
                frame.close();
              }
        return wrong;
      });
      expect(wrong).toEqual([]);
    });

    test('what cannot be an image is refused', async () => {
      const errors = await realm.evaluate(async () => {
        const bitmap = await createImageBitmap(new ImageData(2, 2));
        bitmap.close();
        const frame = new VideoFrame(new Uint8Array(16), {
          format: 'RGBA',
          codedWidth: 2,
          codedHeight: 2,
          timestamp: 0,
        });
        frame.close();
        const detached = { data: new Uint8Array(12), dims: [2, 2, 3] };
        structuredClone(detached.data, { transfer: [detached.data.buffer] });
        const sources = {
          nothing: null,
          missing: undefined,
          text: 'photo.jpg',
          number: 7,
          object: {},
          bytes: new Uint8Array(12),
          bitmap,
          frame,
          canvas: new OffscreenCanvas(0, 0),
          detached,
          short: { data: new Uint8Array(11), dims: [2, 2, 3] },
          planar: { data: new Uint8Array(12), dims: [3, 2, 2] },
          batch: { data: new Uint8Array(12), dims: [1, 2, 2, 3] },
          zero: { data: new Uint8Array(0), dims: [0, 2, 3] },
          float: { data: new Float32Array(12), dims: [2, 2, 3] },
          mislabeled: { data: new Uint8Array(12), dims: [2, 2, 3], dtype: 'bool' },
        };
        const out: Record<string, Failure | undefined> = {};
        for (const [name, source] of Object.entries(sources))
          out[name] = await failure(() => images.decodeImage(source as ImageInput));
        return out;
      });
      for (const [name, error] of Object.entries(errors))
        expect.soft(error, name).toMatchObject({ code: 'invalid-input' });
      expect(errors['text']!.message).toMatch(/Blob or File, ImageBitmap.*got a string/);
      expect(errors['detached']!.message).toMatch(/transferred/);
      expect(errors['float']!.message).toMatch(/Float32Array/);
    });

    test('a rectangle outside, a closed image and a closed source are refused', async () => {
      const errors = await realm.evaluate(async () => {
        const image = await images.decodeImage(await fixture('rgb.png'));
        const bad = [
          { x: 0, y: 0, width: 34, height: 1 },
          { x: -1, y: 0, width: 2, height: 2 },
          { x: 0, y: 0, width: 0, height: 2 },
          { x: 0.5, y: 0, width: 2, height: 2 },
          { x: NaN, y: 0, width: 2, height: 2 },
        ];
        const out = [];
        for (const rect of bad) out.push((await failure(() => image.read(rect)))?.code);
        image.close();
        image.close();
        out.push((await failure(() => image.read()))?.code);
        const bitmap = await createImageBitmap(new ImageData(2, 2));
        const drawn = await images.decodeImage(bitmap);
        bitmap.close();
        out.push((await failure(() => drawn.read()))?.code);
        return out;
      });
      expect(errors).toEqual([...Array(5).fill('invalid-input'), 'disposed', 'invalid-input']);
    });

    test('images open at once keep their own pixels', async () => {
      const same = await realm.evaluate(async () => {
        const names = ['exif-6.jpg', '420.jpg', 'alpha.png', 'rgb.png', 'lossy.webp'];
        const alone = [];
        for (const name of names) alone.push(JSON.stringify((await readAll(await fixture(name))).pixels));
        const opened = await Promise.all(names.map(async (name) => images.decodeImage(await fixture(name))));
        const reads = await Promise.all(opened.map((image) => image.read()));
        const together = reads.map((pixels) =>
          JSON.stringify((globalThis as unknown as { rgb: (p: unknown) => number[] }).rgb(pixels)),
        );
        opened.forEach((image) => image.close());
        return alone.every((pixels, i) => pixels === together[i]);
      });
      expect(same).toBe(true);
    });

    test('frames and decoders of ours are closed, on errors too', async () => {
      const counts = await realm.evaluate(async () => {
        const decode = ImageDecoder.prototype.decode;
        const closeFrame = VideoFrame.prototype.close;
        const closeDecoder = ImageDecoder.prototype.close;
        let frames = 0;
        let decoders = 0;
        ImageDecoder.prototype.decode = async function (...args) {
          decoders++;
          const result = await decode.apply(this, args);
          frames++;
          return result;
        };
        VideoFrame.prototype.close = function () {
          frames--;
          closeFrame.call(this);
        };
        ImageDecoder.prototype.close = function () {
          decoders--;
          closeDecoder.call(this);
        };
        await readAll(await fixture('420.jpg'));
        await failure(async () => readAll(await fixture('truncated-420.jpg')));
        await failure(async () => images.decodeImage(await fixture('lossy.avif'), { maxPixels: 1 }));
        ImageDecoder.prototype.decode = decode;
        VideoFrame.prototype.close = closeFrame;
        ImageDecoder.prototype.close = closeDecoder;
        return { frames, decoders };
      });
      expect(counts).toEqual({ frames: 0, decoders: 0 });
    });

    test('without ImageDecoder, a bitmap gives the same picture, upright once @firefox', async () => {
      await realm.evaluate(() => Reflect.deleteProperty(globalThis, 'ImageDecoder'));
      for (const name of [
        'rgb.png',
        'alpha.png',
        'gamma.png',
        'profile.png',
        '420.jpg',
        ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => `exif-${n}.jpg`),
        'exif-6.png',
        'exif-6.webp',
        'exif-6.jpg as coded',
      ]) {
        const golden = GOLDENS[name]!;
        const got = await read(realm, golden.file, { exifOrientation: golden.exif });
        expect.soft([name, got.width, got.height]).toEqual([name, golden.width, golden.height]);
        expect.soft(largestDifference(got.pixels, expectedPixels(golden)), name).toBeLessThanOrEqual(1);
      }
      const error = await realm.evaluate(async () =>
        failure(async () => images.decodeImage(await fixture('truncated-420.jpg'))),
      );
      expect(error).toMatchObject({ code: 'image-decode' });
    });
  });
}

test.describe('inputs on the page @once', () => {
  test.beforeEach(async ({ page, browserName }) => {
    test.skip(browserName === 'firefox', NO_WORKER_REALM);
    await open(page, 'worker');
    await page.waitForFunction(() => 'images' in window);
    await page.evaluate(helpers);
    await page.evaluate(`globalThis.cross = ({ value, transferables }) => new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data.error ? data : { width: data.width, height: data.height, pixels: rgb({ ...data, data: data.bytes }) });
      worker.postMessage(value, transferables);
    })`);
  });

  test('elements reach the worker upright, exactly, bare or in a row', async ({ page }) => {
    const reads = await page.evaluate(async () => {
      const folder = '/test/goldens/images/';
      const load = (name: string): HTMLImageElement => Object.assign(new Image(), { src: folder + name });
      const canvas = Object.assign(document.createElement('canvas'), { width: 33, height: 17 });
      const png = load('rgb.png');
      await png.decode();
      canvas.getContext('2d')!.drawImage(png, 0, 0);
      const offscreen = new OffscreenCanvas(33, 17);
      offscreen.getContext('2d')!.drawImage(png, 0, 0);
      const out: Record<string, Read> = {};
      const inputs = {
        png,
        late: load('rgb.png'),
        row: { data: load('rgb.png') },
        body: { body: canvas },
        canvas,
        offscreen,
        profile: load('profile.png'),
        turned: load('exif-6.jpg'),
        mirrored: load('exif-2.jpg'),
        // Chromium shows a WebP as it is coded, whatever its orientation. As a Blob, it is turned.
        coded: load('exif-6.webp'),
        blob: await fixture('rgb.png'),
      };
      for (const [name, input] of Object.entries(inputs)) {
        const message = (await images.prepare(input)).message()!;
        out[name] = await cross(message);
        if ((message.transferables.length === 0) !== (name === 'blob'))
          throw new Error(`${name} moves ${message.transferables.length}`);
      }
      return { out, kept: [offscreen.width, canvas.width] };
    });
    for (const [name, read] of Object.entries(reads.out)) {
      const golden =
        GOLDENS[{ profile: 'profile.png', turned: 'exif-6.jpg', mirrored: 'exif-2.jpg' }[name] ?? 'rgb.png']!;
      expect.soft([name, read.width, read.height]).toEqual([name, golden.width, golden.height]);
      expect
        .soft(largestDifference(read.pixels, expectedPixels(golden)), name)
        .toBeLessThanOrEqual(golden.file.endsWith('jpg') ? 1 : 0);
    }
    expect(reads.kept).toEqual([33, 33]);
  });

  test('the frame of a video is the one shown at the time of the call', async ({ page }) => {
    const result = await page.evaluate(async () => {
      const video = document.createElement('video');
      const empty = await failure(() => images.prepare(video));
      const canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 48 });
      const context = canvas.getContext('2d')!;
      const paint = (): void => {
        context.fillStyle = 'rgb(200, 40, 40)';
        context.fillRect(0, 0, 64, 48);
      };
      paint();
      const timer = setInterval(paint, 30);
      video.muted = true;
      video.srcObject = canvas.captureStream(30);
      await video.play();
      const prepared = await images.prepare({ data: video });
      clearInterval(timer);
      const { width, height, pixels } = await cross(prepared.message()!);
      return { empty, width, height, pixel: pixels.slice(0, 3) };
    });
    expect(result.empty).toMatchObject({ code: 'invalid-input', message: expect.stringMatching(/loadeddata/) });
    expect(result).toMatchObject({ width: 64, height: 48 });
    expect(largestDifference(result.pixel, [200, 40, 40])).toBeLessThanOrEqual(4);
  });

  test('elements without pixels are refused', async ({ page }) => {
    const errors = await page.evaluate(async () => {
      const [broken, missing] = ['/test/goldens/images/text.jpg', '/nowhere.png'].map((src) =>
        Object.assign(new Image(), { src }),
      );
      const canvas = Object.assign(document.createElement('canvas'), { width: 0, height: 5 });
      const out: Record<string, Failure | undefined> = {};
      const inputs = {
        broken,
        missing,
        empty: new Image(),
        drawing: Object.assign(new Image(), {
          src: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 4"><rect width="8" height="4"/></svg>',
        }),
        canvas,
        offscreen: { body: new OffscreenCanvas(0, 0) },
        detached: new Uint8Array(4),
      };
      structuredClone(inputs.detached, { transfer: [inputs.detached.buffer] });
      for (const [name, input] of Object.entries(inputs)) out[name] = await failure(() => images.prepare(input));
      return out;
    });
    expect(errors).toMatchObject({
      broken: { code: 'image-decode', message: expect.stringMatching(/text\.jpg/) },
      missing: { code: 'image-decode' },
      empty: { code: 'image-decode', message: expect.stringMatching(/no source/) },
      drawing: { code: 'invalid-input', message: expect.stringMatching(/SVG without width and height\. Set both/) },
      canvas: { code: 'invalid-input', message: expect.stringMatching(/0 × 5/) },
      offscreen: { code: 'invalid-input' },
      detached: { code: 'invalid-input' },
    });
  });

  test('arrays are copied at the call, or transferred when asked', async ({ page }) => {
    const result = await page.evaluate(async () => {
      const data = new Uint8Array(2 * 2 * 3).fill(9);
      const input = { data, dims: [2, 2, 3] };
      const copy = await images.prepare(input);
      // A message is posted when it is made.
      const crossing = cross(copy.message()!);
      copy.snapshot();
      data.fill(1);
      const first = await crossing;
      const again = await cross(copy.message()!);
      const beside = {
        array: Uint8Array.of(9),
        canvas: Object.assign(document.createElement('canvas'), { width: 2, height: 2 }),
      };
      const preparing = images.prepare(beside);
      beside.array.fill(1);
      const [besideCanvas] = ((await preparing).message()!.value as typeof beside).array;
      const length = data.length;
      const moved = await images.prepare({ data: input }, { transfer: true });
      const third = await cross(moved.message()!);
      const once = moved.message();
      const record = (
        await images.prepare({
          ids: { dtype: 'int64', dims: [1], data: new BigInt64Array([5n]) },
          text: 'yes',
          list: [1, null],
        })
      ).message()!;
      const image = new ImageData(2, 2);
      const bitmap = await createImageBitmap(image);
      const copied = (await images.prepare(bitmap)).message()!;
      const same = copied.value === bitmap || copied.transferables[0] !== copied.value;
      await cross(copied);
      const sent = (await images.prepare([image, bitmap], { transfer: true })).message()!;
      return {
        once: once === undefined,
        pixels: [first, again, third].map(({ pixels }) => pixels[0]),
        besideCanvas,
        kept: length,
        gone: data.length,
        id: String((record.value as { ids: { data: BigInt64Array } }).ids.data[0]),
        rest: JSON.stringify({ ...(record.value as object), ids: undefined }),
        same,
        open: bitmap.width,
        transferables: sent.transferables.map((object) => object.constructor.name),
      };
    });
    expect(result).toEqual({
      once: true,
      pixels: [9, 9, 1],
      besideCanvas: 9,
      kept: 12,
      gone: 0,
      id: '5',
      rest: '{"text":"yes","list":[1,null]}',
      same: false,
      open: 2,
      transferables: ['ArrayBuffer', 'ImageBitmap'],
    });
  });

  test('pictures that were made for a request are closed if it is not sent', async ({ page }) => {
    const widths = await page.evaluate(async () => {
      const canvas = new OffscreenCanvas(3, 3);
      canvas.getContext('2d');
      const prepared = await images.prepare(canvas);
      const { value } = prepared.message()!;
      prepared.release();
      const made: ImageBitmap[] = [];
      const create = globalThis.createImageBitmap;
      globalThis.createImageBitmap = (async (source: ImageBitmapSource) => {
        made.push(await create(source));
        return made.at(-1);
      }) as typeof create;
      await failure(() => images.prepare([canvas, new Image()]));
      globalThis.createImageBitmap = create;
      return [(value as ImageBitmap).width, ...made.map(({ width }) => width)];
    });
    expect(widths).toEqual([0, 0, 0]);
  });

  test('a picture can be sent again and again, and stays what it was, with its transparency', async ({ page }) => {
    const reads = await page.evaluate(async () => {
      const png = Object.assign(new Image(), { src: '/test/goldens/images/alpha.png' });
      await png.decode();
      const bitmap = await createImageBitmap(png, { colorSpaceConversion: 'none' });
      const out: Record<string, { right: number[]; pixels: number[][]; replayable: boolean }> = {};
      for (const [name, input] of Object.entries({ png, frame: new VideoFrame(bitmap, { timestamp: 0 }), bitmap })) {
        const right = (await cross({ value: input === png ? bitmap : input, transferables: [] })).pixels;
        const prepared = await images.prepare(input);
        prepared.snapshot();
        if (input !== png) (input as ImageBitmap | VideoFrame).close();
        // One that could not be sent is taken back, and sent the next time.
        prepared.message();
        prepared.rollback();
        const pixels = [];
        for (let i = 0; i < 4; i++) pixels.push((await cross(prepared.message()!)).pixels);
        out[name] = { right, pixels, replayable: prepared.replayable };
        prepared.release();
      }
      return out;
    });
    expect(largestDifference(reads['png']!.right, expectedPixels(GOLDENS['alpha.png']!))).toBeLessThanOrEqual(1);
    for (const [name, { right, pixels, replayable }] of Object.entries(reads)) {
      expect.soft(replayable, name).toBe(true);
      for (const sent of pixels) expect.soft(largestDifference(sent, right), name).toBe(0);
    }
  });

  test('a URL is downloaded; the error for one that cannot be has its address, its status and a remedy', async ({
    page,
  }) => {
    await page.route('http://pictures.test/**', (route) =>
      route.fulfill({
        body: Buffer.from(readFixture('rgb.png')),
        // Without one, Playwright would allow every origin.
        headers: {
          'access-control-allow-origin': route.request().url().includes('shared') ? '*' : 'http://elsewhere.test',
        },
      }),
    );
    const result = await page.evaluate(async () => {
      const file = new URL('/test/goldens/images/rgb.png', location.href);
      const blob = await (await fetch(file)).blob();
      const local = URL.createObjectURL(blob);
      const data = await new Promise<string>((resolve) => {
        const reader = Object.assign(new FileReader(), { onload: () => resolve(reader.result as string) });
        reader.readAsDataURL(blob);
      });
      const reads: Record<string, number[]> = {};
      const urls = { file, local: new URL(local), data: new URL(data), shared: new URL('http://pictures.test/shared') };
      for (const [name, url] of Object.entries(urls)) {
        const prepared = await images.prepare({ data: url });
        await cross(prepared.message()!);
        reads[name] = (await cross(prepared.message()!)).pixels;
      }
      URL.revokeObjectURL(local);
      const stopped = new AbortController();
      const aborted = images.prepare(new URL('/test/goldens/images/rgb.jpg', location.href), {
        signal: stopped.signal,
      });
      stopped.abort();
      return {
        reads,
        aborted: await failure(() => aborted),
        missing: await failure(() => images.prepare(new URL('/@fs/nowhere.png', location.href))),
        foreign: await failure(() => images.prepare(new URL('http://pictures.test/private'))),
        revoked: await failure(() => images.prepare(new URL(local))),
      };
    });
    for (const [name, pixels] of Object.entries(result.reads))
      expect.soft(largestDifference(pixels, expectedPixels(GOLDENS['rgb.png']!)), name).toBe(0);
    expect(result).toMatchObject({
      aborted: { cause: expect.stringContaining('AbortError') },
      missing: { code: 'invalid-input', message: expect.stringMatching(/nowhere\.png .*\b40[34]\b/) },
      foreign: {
        code: 'invalid-input',
        message: expect.stringMatching(/http:\/\/pictures\.test\/private .*Access-Control-Allow-Origin.*Blob/),
      },
      revoked: { code: 'invalid-input', message: expect.stringMatching(/revoked/) },
    });
  });
});

test('an <img> with loading="lazy" is loaded, wherever it is on the page @once @firefox', async ({ page }) => {
  await open(page, 'page');
  const found = await page.evaluate(async () => {
    const src = '/test/goldens/images/rgb.png';
    const lazy = ['below', 'hidden', 'detached'].map((name) =>
      Object.assign(new Image(), { loading: 'lazy', src: `${src}?${name}` }),
    );
    const [below, hidden] = lazy as [HTMLImageElement, HTMLImageElement];
    below.style.marginTop = '100000px';
    hidden.hidden = true;
    document.body.append(below, hidden);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const loaded = lazy.map(({ complete }) => complete);
    const prepared = await Promise.all(lazy.map(async (image) => await images.prepare(image)));
    return { loaded, widths: prepared.map((one) => (one.message()!.value as ImageBitmap).width) };
  });
  expect(found).toEqual({ loaded: [false, false, false], widths: [33, 33, 33] });
});

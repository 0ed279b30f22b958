import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { prepare } from '../../../../src/page/requests/inputs.ts';
import { giveBack, takeBuffer, takeReady } from '../../../../src/worker/tensors/buffers.ts';
import { openImageData } from '../../../../src/worker/images/array.ts';
import { decodeImage } from '../../../../src/worker/images/decode.ts';
import { findOrientation } from '../../../../src/worker/images/exif.ts';
import { flatten } from '../../../../src/worker/images/alpha.ts';
import { readHeader } from '../../../../src/worker/images/header.ts';
import { toCoded, toUpright, turn, type Orientation } from '../../../../src/worker/images/orientation.ts';
import { buildKernel } from '../../../../scripts/build-kernels.mjs';
import {
  convertWith,
  createJsColorKernel,
  createWasmColorKernel,
} from '../../../../src/worker/images/planar/jpeg-color.ts';

const folder = 'test/goldens/images/';
const fixture = (name: string): Uint8Array => new Uint8Array(readFileSync(folder + name));
const ORIENTATIONS = [1, 2, 3, 4, 5, 6, 7, 8] as const;

const clamp = (n: number): number => Math.min(255, Math.max(0, n));

/** What the header tells, in a line. */
const tell = (name: string): string => {
  const bytes = fixture(name);
  const header = readHeader(bytes);
  const facts = header?.facts;
  const tag = facts?.exif && findOrientation(bytes, facts.exif);
  return `${header?.name}, ${facts?.width} × ${facts?.height}, ${tag?.value}`;
};

function random(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

test('the kernel is compiled from its source', async () => {
  expect(readFileSync('src/worker/images/planar/ycc.wasm.ts', 'utf8')).toBe(
    await buildKernel('worker/images/planar/ycc'),
  );
});

test('both kernels compute the same, for every subsampling, width and window', () => {
  const wasm = createWasmColorKernel()!;
  const js = createJsColorKernel();
  const next = random(1);
  const bytes = (n: number): Uint8Array => Uint8Array.from({ length: n }, () => Math.floor(next() * 256));
  for (const [halfWidth, halfHeight] of [
    [true, true],
    [true, false],
    [false, false],
  ] as const) {
    for (let width = 1; width < 70; width++) {
      const height = 1 + (width % 9);
      const columns = halfWidth ? (width + 1) >> 1 : width;
      const rows = halfHeight ? (height + 1) >> 1 : height;
      const planes = {
        y: bytes(width * height),
        u: bytes(columns * rows),
        v: bytes(columns * rows),
        yStride: width,
        uStride: columns,
        vStride: columns,
        width,
        height,
        halfWidth,
        halfHeight,
        narrow: halfWidth && width <= 4,
      };
      const x = Math.floor(next() * width);
      const y = Math.floor(next() * height);
      const window = { x, y, width: width - x, height: height - y };
      const [a, b] = [convertWith(wasm, planes, window), convertWith(js, planes, window)].map((pixels) =>
        pixels.filter((_, i) => i % 4 < 3),
      );
      expect(a).toEqual(b);
    }
  }
});

test('every color is converted as libjpeg converts it', () => {
  const [js, wasm] = [createJsColorKernel(), createWasmColorKernel()!];
  const memories = [js, wasm].map((kernel) => kernel.memory(4096));
  let wrong = 0;
  for (let u = 0; u < 256; u++) {
    for (let v = 0; v < 256; v++) {
      const y = (u * 7 + v * 13) & 255;
      const right = [
        clamp(y + ((91881 * (v - 128) + 32768) >> 16)),
        clamp(y + ((-22554 * (u - 128) - 46802 * (v - 128) + 32768) >> 16)),
        clamp(y + ((116130 * (u - 128) + 32768) >> 16)),
      ];
      [js, wasm].forEach((kernel, i) => {
        memories[i]![0] = y;
        memories[i]![256] = u;
        memories[i]![512] = v;
        kernel.convert(0, 256, 512, 1, 1024);
        for (let c = 0; c < 3; c++) if (memories[i]![1024 + c] !== right[c]) wrong++;
      });
    }
  }
  expect(wrong).toBe(0);
});

test('an upright rectangle and its coded one are each other’s', () => {
  for (const orientation of ORIENTATIONS) {
    const [w, h] = orientation >= 5 ? [7, 11] : [11, 7];
    const rect = { x: 2, y: 1, width: 3, height: 5 };
    expect(toUpright(toCoded(rect, orientation, 11, 7), orientation, 11, 7)).toEqual(rect);
    expect(toCoded({ x: 0, y: 0, width: w, height: h }, orientation, 11, 7)).toEqual({
      x: 0,
      y: 0,
      width: 11,
      height: 7,
    });
  }
});

test('turning, as the definition says', () => {
  const [w, h] = [70, 45];
  const source = Uint32Array.from({ length: w * h }, (_, i) => i);
  const coded: Record<Orientation, (u: number, v: number) => [number, number]> = {
    1: (u, v) => [u, v],
    2: (u, v) => [w - 1 - u, v],
    3: (u, v) => [w - 1 - u, h - 1 - v],
    4: (u, v) => [u, h - 1 - v],
    5: (u, v) => [v, u],
    6: (u, v) => [v, h - 1 - u],
    7: (u, v) => [w - 1 - v, h - 1 - u],
    8: (u, v) => [w - 1 - v, u],
  };
  for (const orientation of ORIENTATIONS) {
    const columns = orientation >= 5 ? h : w;
    const target = new Uint32Array(w * h);
    turn(source, w, w, h, orientation, target, columns);
    const right = Uint32Array.from({ length: w * h }, (_, i) => {
      const [x, y] = coded[orientation](i % columns, Math.floor(i / columns));
      return y * w + x;
    });
    expect(target).toEqual(right);
  }
});

test('composition is Pillow’s, for every alpha', () => {
  const data = new Uint8Array(256 * 4).map((_, i) => (i % 4 === 3 ? i >> 2 : 200));
  flatten(data, [10, 255, 0]);
  for (let alpha = 0; alpha < 256; alpha++) {
    const exact = [10, 255, 0].map((b) => Math.round((200 * alpha + b * (255 - alpha)) / 255));
    expect([...data.subarray(alpha * 4, alpha * 4 + 4)]).toEqual([...exact, 255]);
  }
});

test('colors that are multiplied by their alpha are composited within 1, for every alpha', () => {
  const multiplied = Uint8Array.from({ length: 256 * 4 }, (_, i) =>
    i % 4 === 3 ? i >> 2 : Math.round((200 * (i >> 2)) / 255),
  );
  flatten(multiplied, [10, 255, 0], true);
  for (let alpha = 0; alpha < 256; alpha++)
    for (const [channel, b] of [10, 255, 0].entries())
      expect(Math.abs(multiplied[alpha * 4 + channel]! - (200 * alpha + b * (255 - alpha)) / 255)).toBeLessThanOrEqual(
        1,
      );
});

test('headers tell what the file is, how large, and where its EXIF lies', () => {
  for (const n of ORIENTATIONS) expect(tell(`exif-${n}.jpg`)).toBe(`a JPEG, 33 × 17, ${n}`);
  expect(tell('exif-6.png')).toBe('a PNG, 33 × 17, 6');
  expect(tell('exif-6.webp')).toBe('a WebP, 33 × 17, 6');
  expect(tell('progressive.jpg')).toBe('a JPEG, 33 × 17, undefined');
  expect(tell('lossy.webp')).toBe('a WebP, 33 × 17, undefined');
  expect(tell('rgb.webp')).toBe('a WebP, 33 × 17, undefined');
  expect(tell('animated.gif')).toBe('a GIF, 33 × 17, undefined');
  expect(tell('rgb.bmp')).toBe('a BMP, 33 × 17, undefined');
  expect(tell('lossy.avif')).toBe('an AVIF, 33 × 17, undefined');
  expect(tell('text.jpg')).toMatch(/^text,/);
  expect(tell('drawing.svg')).toMatch(/^an SVG/);
  expect(readHeader(new Uint8Array(64))).toBeUndefined();
});

test('no header, cut or garbled anywhere, throws', () => {
  const next = random(2);
  for (const name of readdirSync(folder).filter((file) => /\.(jpg|png|webp|gif|bmp|avif)$/.test(file))) {
    const whole = fixture(name);
    for (let i = 0; i < 200; i++) {
      const bytes = whole.slice(0, i < 100 ? i : Math.floor(next() * whole.length));
      for (let k = 0; k < 4 && bytes.length > 12; k++)
        bytes[12 + Math.floor(next() * Math.min(120, bytes.length - 12))] = Math.floor(next() * 256);
      const exif = readHeader(bytes)?.facts?.exif;
      if (exif) findOrientation(bytes, exif);
    }
  }
});

test('a broken block of EXIF has no orientation', () => {
  const good = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0];
  const value = (patch: Record<number, number> = {}, end = good.length): number | undefined => {
    const bytes = Uint8Array.from(good, (byte, i) => patch[i] ?? byte);
    return findOrientation(bytes, { start: 0, end })?.value;
  };
  expect(value()).toBe(6);
  expect(value({ 19: 0 })).toBeUndefined();
  expect(value({ 19: 9 })).toBeUndefined();
  expect(value({ 0: 0x49 })).toBeUndefined();
  expect(value({ 3: 43 })).toBeUndefined();
  expect(value({ 7: 200 })).toBeUndefined();
  expect(value({ 4: 0xff, 5: 0xff, 6: 0xff, 7: 0xff })).toBeUndefined();
  expect(value({ 13: 4 })).toBeUndefined();
  expect(value({}, 21)).toBeUndefined();
  expect(value({}, 4)).toBeUndefined();
});

test('buffers are reused, and their number is limited', () => {
  const a = takeBuffer(100_000);
  giveBack(a);
  expect(takeBuffer(90_000)).toBe(a);
  giveBack(a);
  // One far too large is left for a larger image, and small ones do not take its place.
  expect(takeBuffer(20_000)).not.toBe(a);
  for (let i = 0; i < 8; i++) giveBack(new ArrayBuffer(10));
  expect(takeBuffer(100_000)).toBe(a);
  giveBack(a);
  for (let i = 0; i < 8; i++) giveBack(new ArrayBuffer(20_000));
  expect(takeBuffer(100_000)).not.toBe(a);
  const huge = new ArrayBuffer(200 * 2 ** 20);
  giveBack(huge);
  expect(takeBuffer(200 * 2 ** 20)).not.toBe(huge);
});

test('the next buffer of a size is created in a later task, and is returned only once', async () => {
  const first = takeReady(100_000);
  await new Promise((resolve) => setTimeout(resolve));
  const [second, third] = [takeReady(100_000), takeReady(100_000)];
  expect(new Set([first, second, third]).size).toBe(3);
  for (const { byteLength } of [first, second, third]) expect(byteLength).toBe(100_000);
  expect(takeReady(10).byteLength).toBe(10);
});

test('without a browser, arrays are images and inputs pass', async () => {
  const image = await decodeImage({ data: new Uint8Array([1, 2, 3, 4, 5, 6]), dims: [1, 2, 3] });
  expect(await image.read({ x: 1, y: 0, width: 1, height: 1 })).toMatchObject({
    format: 'RGB',
    width: 1,
    height: 1,
    data: new Uint8Array([4, 5, 6]),
  });
  await expect(decodeImage(new Blob([fixture('rgb.png') as BlobPart]))).rejects.toMatchObject({ code: 'image-decode' });
  expect((await prepare({ data: 'text' })).message()).toMatchObject({ value: { data: 'text' }, transferables: [] });
});

test('an array with an unknown key is refused: its value would be ignored', async () => {
  const array = { data: new Uint8Array(6), dims: [1, 2, 3] };
  for (const [key, meant] of [
    ['dType', '; probably dtype is meant'],
    ['colorOrder', ''],
    ['layout', ''],
    ['width', ''],
  ])
    await expect(decodeImage({ ...array, [key!]: 'BGR' } as never)).rejects.toMatchObject({
      code: 'invalid-input',
      message: `The input has the unknown key "${key}"${meant}. Its keys are data, dims, dtype.`,
    });
});

test('an ImageData of 16 bits is rounded to 8', async () => {
  const data = Float32Array.of(0, 0.5, 1, 1, 220 / 255, 5.4 / 255, 2, 1);
  const source = openImageData({ data, width: 2, height: 1 } as never);
  const raster = await source.read({ x: 0, y: 0, width: 2, height: 1 }, (size) => new ArrayBuffer(size));
  expect([...(raster as { data: Uint8Array }).data]).toEqual([0, 128, 255, 255, 220, 5, 255, 255]);
});

test('an input whose buffer is transferred before the page has copied it', async () => {
  const prepared = async () => {
    const data = Float32Array.of(1, 2, 3);
    return {
      input: await prepare({ data, dims: [3] }),
      leave: () => void structuredClone(data, { transfer: [data.buffer] }),
    };
  };
  const sent = await prepared();
  expect(sent.input.message()!.value).toEqual({ data: Float32Array.of(1, 2, 3), dims: [3] });
  sent.leave();
  sent.input.snapshot();
  expect(sent.input.replayable).toBe(false);
  expect(sent.input.message()).toBeUndefined();
  const waiting = await prepared();
  waiting.leave();
  waiting.input.snapshot();
  expect(() => waiting.input.message()).toThrow(TypeError);
});

test('a list, and a path, are no image: what to pass', async () => {
  const pixels = { data: new Uint8Array(3), dims: [1, 1, 3] };
  await expect(decodeImage([pixels] as never)).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringMatching(/got a value of type Array\. For several inputs, call client\.handle\(\[…\]\)\.$/),
  });
  await expect(decodeImage('/cat.jpg' as never)).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringMatching(/got a string\. For an image on the web, pass new URL\(…\)/),
  });
});

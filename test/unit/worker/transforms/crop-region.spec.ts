// Rotated crops against OpenCV and scipy (`test/goldens/people/crops.py`), and the kernel against JavaScript.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import type { PixelFormat, Pixels, Rect } from '../../../../src/contract/images.ts';
import type { Region } from '../../../../src/contract/images.ts';
import { cropRegion } from '../../../../src/worker/transforms/crop-region.ts';

type Golden = Readonly<Record<'replicate' | 'zero' | 'cut', string>> & {
  readonly crop: readonly [x: number, y: number, width: number, height: number, angle: number, number, number];
};
const goldens = JSON.parse(
  gunzipSync(readFileSync(new URL('../../../goldens/people/crops.json.gz', import.meta.url))).toString(),
) as readonly Golden[];

const WIDTH = 131;
const HEIGHT = 97;

function picture(format: PixelFormat, { x: left, y: top, width, height }: Rect): Pixels {
  const order = format.startsWith('BGR') ? [2, 1, 0] : [0, 1, 2];
  const data = new Uint8Array(width * height * format.length);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (const [byte, channel] of order.entries()) {
        const [column, row] = [x + left, y + top];
        data[(y * width + x) * format.length + byte] = column * 7 + row * 13 + channel * 29 + ((column * row) % 31) * 5;
      }
  return { format, width, height, stride: width * format.length, data };
}

for (const [index, golden] of goldens.entries())
  for (const border of ['replicate', 'zero', 'cut'] as const)
    test(`crop ${index}, ${border}: as ${border === 'cut' ? 'scipy' : 'OpenCV'}`, async () => {
      const [x, y, width, height, angle, columns, rows] = golden.crop;
      const region: Region = { x, y, width, height, angle };
      const expected = Buffer.from(golden[border], 'base64');
      const reads: Rect[] = [];
      const decoded = {
        width: WIDTH,
        height: HEIGHT,
        read(rect: Rect = { x: 0, y: 0, width: WIDTH, height: HEIGHT }) {
          reads.push(rect);
          return picture('BGRX', rect);
        },
        close() {},
      };
      const whole = picture('RGB', { x: 0, y: 0, width: WIDTH, height: HEIGHT });
      const found = await cropRegion(whole, region, { columns, rows }, border);
      expect(found).toMatchObject({ format: 'RGB', width: columns, height: rows });
      const differences = expected.map((value, at) => Math.abs(value - found.data[at]!));
      // OpenCV computes in float32, and scipy in float64.
      expect(Math.max(...differences)).toBeLessThanOrEqual(1);
      expect(differences.filter((one) => one > 0).length / expected.length).toBeLessThan(0.001);
      // Of an image that is read in parts, it reads only the part that it needs.
      expect((await cropRegion(decoded, region, { columns, rows }, border)).data).toEqual(found.data);
      for (const rect of reads) {
        expect(rect.x).toBeGreaterThanOrEqual(0);
        expect(rect.x + rect.width).toBeLessThanOrEqual(WIDTH);
        expect(rect.y + rect.height).toBeLessThanOrEqual(HEIGHT);
      }
      if (index === 6) expect(reads[0]!.width * reads[0]!.height).toBeLessThan(200);
    });

test('the kernel returns the bytes of the JavaScript, also of an image that is made a few rows at a time', async () => {
  const place = fc.double({ min: -60, max: 180, noNaN: true });
  const side = fc.double({ min: 1, max: 300, noNaN: true });
  const crop = fc.record({ columns: fc.integer({ min: 1, max: 40 }), rows: fc.integer({ min: 1, max: 40 }) });
  const angle = fc.double({ min: -4, max: 4, noNaN: true });
  const region: fc.Arbitrary<Region> = fc.record({ x: place, y: place, width: side, height: side, angle });
  const border = fc.constantFrom('replicate', 'zero', 'cut');
  const sizes = fc.constantFrom([WIDTH, HEIGHT], [1, 1], [1, 60], [90, 1]);
  await fc.assert(
    fc.asyncProperty(region, crop, border, sizes, async (place, size, edge, [width, height]) => {
      const whole = { x: 0, y: 0, width: width!, height: height! };
      const inStrips = {
        width: width!,
        height: height!,
        read: (): Pixels => {
          throw new Error('It was read as a whole.');
        },
        readStrips: (part: Rect) => ({
          format: 'RGBX' as const,
          width: part.width,
          height: part.height,
          strip: (top: number, rows: number) => picture('RGBX', { ...part, y: part.y + top, height: rows }).data,
        }),
        close() {},
      };
      // Pixels of three bytes are JavaScript's.
      const expected = Buffer.from((await cropRegion(picture('RGB', whole), place, size, edge)).data);
      for (const image of [picture('RGBX', whole), picture('BGRX', whole), inStrips])
        expect(expected.equals(Buffer.from((await cropRegion(image, place, size, edge)).data))).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('a region far beyond the image is its border', async () => {
  const image = picture('RGBX', { x: 0, y: 0, width: WIDTH, height: HEIGHT });
  const far = { x: 2 ** 33 + 10, y: 2 ** 34 + 10, width: 8, height: 8, angle: 0 };
  const corner = image.data.subarray(-4, -1);
  expect([...(await cropRegion(image, far, { columns: 1, rows: 1 })).data]).toEqual([...corner]);
  expect([...(await cropRegion(image, far, { columns: 1, rows: 1 }, 'zero')).data]).toEqual([0, 0, 0]);
});

import { expect, test } from '@playwright/test';
import type { Rect } from '../../../../src/contract/images.ts';
import { frameSource } from '../../../../src/worker/images/frame.ts';

test('of a frame with subsampled chroma, whole pairs of pixels are read, with a margin of two', async () => {
  const read: Rect[] = [];
  const visibleRect = { x: 10, y: 20, width: 8, height: 7 };
  const frame = {
    format: 'I420',
    visibleRect,
    displayWidth: 8,
    displayHeight: 7,
    allocationSize: () => 1,
    copyTo: async (_: unknown, { rect }: { rect: Rect }) => {
      read.push(rect);
      return [0, 1, 2].map(() => ({ offset: 0, stride: 8 }));
    },
  } as unknown as VideoFrame;
  const strips: Rect[] = [];
  const convert = (_: unknown, rect: Rect) => void strips.push(rect) as never;
  const source = frameSource(frame, { orientation: 1, convert, owned: true });
  const areas = [
    { x: 0, y: 0, width: 3, height: 1 },
    { x: 4, y: 3, width: 1, height: 2 },
  ];
  for (const area of areas) {
    const raster = await source.read(area, (size) => new ArrayBuffer(size));
    if ('strip' in raster) void raster.strip(0, area.height);
  }
  // In the frame, whose visible part begins at (10, 20) and is 8 × 7.
  expect(read).toEqual([
    { x: 10, y: 20, width: 6, height: 4 },
    { x: 12, y: 20, width: 6, height: 7 },
  ]);
  expect(strips).toEqual([
    { x: 0, y: 0, width: 3, height: 1 },
    { x: 2, y: 3, width: 1, height: 2 },
  ]);
});

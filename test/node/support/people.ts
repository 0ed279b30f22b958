/** What the tests of faces, hands and bodies share: parts of photos, and how far points are from those of MediaPipe. */
import { expect } from '@playwright/test';
import type { FaceLandmarks } from '../../../src/index.ts';
import { cropRegion } from '../../../src/worker/transforms/crop-region.ts';
import { photoOf, type Photo } from './photos.ts';

export const root = new URL('../../../', import.meta.url);
export const { load } = (await import(new URL('dist/node.js', root).href)) as typeof import('../../../src/node.ts');

export type Corners = readonly [xmin: number, ymin: number, xmax: number, ymax: number];
export type Point = readonly [x: number, y: number, z?: number];
/** Center, size and clockwise turn of a region that MediaPipe has cut out. */
export type Rect = readonly [x: number, y: number, width: number, height: number, angle: number];

export type Frame = Awaited<ReturnType<typeof photoOf>>;
export const ASTRONAUT = { photo: 'public/models/selfie/samples/astronaut.jpg', turn: 0 };

export const archive = (folder: string): URL => new URL(`public/models/${folder}/`, root);

export function iou(a: Corners, b: Corners): number {
  const width = Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0]));
  const height = Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
  const area = ([left, top, right, bottom]: Corners): number => (right - left) * (bottom - top);
  return (width * height) / (area(a) + area(b) - width * height);
}

export const cornersOf = ({ xmin, ymin, xmax, ymax }: FaceLandmarks['box']): Corners => [xmin, ymin, xmax, ymax];

export function boxAround(points: readonly Point[]): Corners {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

/** The distances from where MediaPipe has the points, in fractions of the box's diagonal, the smallest first. */
export function distances(found: readonly { x: number; y: number }[], expected: readonly Point[]): readonly number[] {
  const [left, top, right, bottom] = boxAround(expected);
  const diagonal = Math.hypot(right - left, bottom - top);
  expect(found).toHaveLength(expected.length);
  return expected
    .map(([x, y], at) => Math.hypot(found[at]!.x - x, found[at]!.y - y) / diagonal)
    .toSorted((a, b) => a - b);
}

/** Of those that were found, the one that overlaps most. */
export function nearest<T extends { readonly box: FaceLandmarks['box'] }>(found: readonly T[], box: Corners): T {
  return found.toSorted((a, b) => iou(cornersOf(b.box), box) - iou(cornersOf(a.box), box))[0]!;
}

/** Cuts a turned rectangle out of a photo, and scales it. */
export async function partAt(
  { data, dims }: Awaited<ReturnType<typeof photoOf>>,
  [x, y, width, height, angle]: Rect,
  [columns, rows]: readonly [columns: number, rows: number],
) {
  const [high, wide] = dims as [number, number];
  const photo = { format: 'RGB', width: wide, height: high, stride: wide * 3, data } as const;
  const crop = await cropRegion(photo, { x, y, width, height, angle }, { columns, rows });
  return { data: new Uint8Array(crop.data), dims: [rows, columns, 3] };
}

/** Cuts a part out of a photo, which may lie beyond its edge: there it is gray. */
export async function partOf(one: Photo, left: number, top: number, width: number, height: number): Promise<Frame> {
  const { data, dims } = await photoOf(one);
  const [rows, columns] = dims as [number, number];
  const part = new Uint8Array(width * height * 3).fill(128);
  for (let y = Math.max(0, -top); y < Math.min(height, rows - top); y++)
    for (let x = Math.max(0, -left); x < Math.min(width, columns - left); x++) {
      const from = ((y + top) * columns + x + left) * 3;
      part.set(data.subarray(from, from + 3), (y * width + x) * 3);
    }
  return { data: part, dims: [height, width, 3] };
}

import type { Size } from './decoder.js';

/**
 * A feature map. Its points are `stride` pixels apart and numbered row by row; `start` is the index of the first point.
 */
export interface Level {
  readonly stride: number;
  readonly columns: number;
  readonly count: number;
  readonly start: number;
}

/**
 * Pixels between two points of a feature map.
 * @integer
 * @minimum 1
 */
export type Stride = number;

/** Returns the feature maps for an input tensor of this size. */
export function levelsOf(strides: readonly number[], { width, height }: Size): Level[] {
  let start = 0;
  return strides.map((stride) => {
    const columns = Math.ceil(width / stride);
    const level = { stride, columns, count: columns * Math.ceil(height / stride), start };
    start += level.count;
    return level;
  });
}

/** Returns the number of points in all feature maps. */
export function pointCount(levels: readonly Level[]): number {
  return levels.reduce((sum, { count }) => sum + count, 0);
}

/** Returns the column and row of point `index` in its feature map, and the stride of this feature map. */
export function pointAt(
  levels: readonly Level[],
  index: number,
): { readonly x: number; readonly y: number; readonly stride: number } {
  const { start, columns, stride } = levels.findLast(({ start }) => start <= index)!;
  return { x: (index - start) % columns, y: Math.floor((index - start) / columns), stride };
}

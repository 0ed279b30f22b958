import type { Schema } from '../../shared/schema.js';
import type { Size } from './decoder.js';

/** One feature map: its points lie `stride` pixels apart, row by row, and `start` is the index of its first one. */
export interface Level {
  readonly stride: number;
  readonly columns: number;
  readonly count: number;
  readonly start: number;
}

export const stridesSchema: Schema = {
  type: 'array',
  items: { type: 'integer', minimum: 1 },
  minItems: 1,
  description:
    'Pixels of the input between two points of each feature map, in the order of the output. [8, 16, 32] by default.',
};

/** The feature maps of a tensor of this size. */
export function levelsOf(strides: readonly number[], { width, height }: Size): Level[] {
  let start = 0;
  return strides.map((stride) => {
    const columns = Math.ceil(width / stride);
    const level = { stride, columns, count: columns * Math.ceil(height / stride), start };
    start += level.count;
    return level;
  });
}

/** How many points all feature maps have. */
export function pointCount(levels: readonly Level[]): number {
  return levels.reduce((sum, { count }) => sum + count, 0);
}

/** Column and row of point `index` in its feature map, and the stride of that. */
export function pointAt(
  levels: readonly Level[],
  index: number,
): { readonly x: number; readonly y: number; readonly stride: number } {
  const { start, columns, stride } = levels.findLast(({ start }) => start <= index)!;
  return { x: (index - start) % columns, y: Math.floor((index - start) / columns), stride };
}

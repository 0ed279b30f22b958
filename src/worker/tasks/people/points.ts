import type { Region } from '../../../contract/images.js';
import { toPhoto } from './region.js';

/** How points lie in a tensor. */
export interface PointRows {
  readonly count: number;
  /** Numbers of one point: x, y and z first. */
  readonly stride: number;
  /** The side of the square that the model has seen, in the unit of the numbers. */
  readonly side: number;
  readonly region: Region;
}

/** Converts points in pixels of a region's crop to the photo; z is scaled as the region's width is. */
export function readPoints(
  numbers: ArrayLike<number>,
  { count, stride, side, region }: PointRows,
): { readonly x: number; readonly y: number; readonly z: number }[] {
  return Array.from({ length: count }, (_, at) => {
    const [x, y, z] = [0, 1, 2].map((axis) => numbers[at * stride + axis]! / side) as [number, number, number];
    return toPhoto({ x, y, z }, region);
  });
}

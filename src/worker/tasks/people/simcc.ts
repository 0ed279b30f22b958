import { indexOfLargest } from '../../outputs/scores.js';

/**
 * Returns where a SimCC model sees a point: the largest number of each axis's bins, as mmpose's `get_simcc_maximum`.
 * @param x the numbers of the bins from left to right @param y from top to bottom
 * @returns the position in fractions of the crop, and the lower of the two numbers as the score
 * @see Li et al., SimCC: a Simple Coordinate Classification Perspective for Human Pose Estimation (ECCV 2022)
 */
export function simccPoint(
  x: Float32Array,
  y: Float32Array,
): { readonly x: number; readonly y: number; readonly score: number } {
  const [column, row] = [indexOfLargest(x), indexOfLargest(y)];
  return { x: column / x.length, y: row / y.length, score: Math.min(x[column]!, y[row]!) };
}

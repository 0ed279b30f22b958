import type { PointRows } from './points.js';

/** How far around a point its heat map is read, in cells. */
const REACH = 3;
/** A heat map counts if its largest number there is at least as high. */
const MIN_HEIGHT = 0.5;

/**
 * Moves points to the mean of what their heat maps say around them, as MediaPipe does. A point whose map is weak, or
 * which is beyond its map, stays.
 * @param points x and y first, in 0..side
 * @param heatmap probabilities, `[side, side, count]`
 * @returns a copy
 */
export function refinePoints(
  points: Float32Array,
  { count, stride, side }: Omit<PointRows, 'region'>,
  heatmap: { readonly data: Float32Array; readonly side: number },
): Float32Array {
  const refined = Float32Array.from(points);
  const cells = heatmap.side;
  for (let point = 0; point < count; point++) {
    const [column, row] = [0, 1].map((axis) => Math.trunc((points[point * stride + axis]! / side) * cells)) as [
      number,
      number,
    ];
    if (column < 0 || column >= cells || row < 0 || row >= cells) continue;
    let [sum, x, y, most] = [0, 0, 0, 0];
    for (let v = Math.max(0, row - REACH); v <= Math.min(cells - 1, row + REACH); v++)
      for (let u = Math.max(0, column - REACH); u <= Math.min(cells - 1, column + REACH); u++) {
        const heat = heatmap.data[(v * cells + u) * count + point]!;
        sum += heat;
        x += u * heat;
        y += v * heat;
        most = Math.max(most, heat);
      }
    if (most < MIN_HEIGHT) continue;
    refined[point * stride] = (x / sum / cells) * side;
    refined[point * stride + 1] = (y / sum / cells) * side;
  }
  return refined;
}

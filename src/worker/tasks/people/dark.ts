import { indexOfLargest } from '../../outputs/scores.js';

/** The Gaussian that smooths a heat map: transformers' sigma and radius for a kernel of 11. */
const [SIGMA, RADIUS] = [0.8, 5];
const KERNEL = gaussian();
/** Heat maps are clipped to these numbers before their logarithm is taken. */
const [MIN_VALUE, MAX_VALUE] = [0.001, 50];
const EPSILON = 2 ** -23;

/**
 * Returns where a heat map sees a point: its largest number, moved by one step of Newton's method on the logarithm of
 * the smoothed map, as transformers' `VitPoseImageProcessor` does.
 * @param map `[height, width]` @returns the position in cells, and the largest number as the score
 * @see Zhang et al., Distribution-Aware Coordinate Representation for Human Pose Estimation (CVPR 2020)
 * @see Huang et al., The Devil is in the Details: Unbiased Data Processing for Human Pose Estimation (CVPR 2020)
 */
export function darkPoint(
  map: Float32Array,
  width: number,
  height: number,
): { readonly x: number; readonly y: number; readonly score: number } {
  const best = indexOfLargest(map);
  const [column, row] = [best % width, Math.floor(best / width)];
  const log = (right: number, down: number): number => {
    const [x, y] = [clamp(column + right, width), clamp(row + down, height)];
    return Math.log(Math.min(Math.max(smoothed(map, width, height, x, y), MIN_VALUE), MAX_VALUE));
  };
  const [here, east, west, south, north] = [log(0, 0), log(1, 0), log(-1, 0), log(0, 1), log(0, -1)];
  const [dx, dy] = [(east - west) / 2, (south - north) / 2];
  const dxx = east - 2 * here + west + EPSILON;
  const dyy = south - 2 * here + north + EPSILON;
  const dxy = (log(1, 1) - east - south + 2 * here - west - north + log(-1, -1)) / 2;
  const determinant = dxx * dyy - dxy * dxy;
  // Where the logarithm is flat, the point stays.
  const step =
    determinant === 0
      ? { x: 0, y: 0 }
      : {
          x: (dyy * dx - dxy * dy) / determinant,
          y: (dxx * dy - dxy * dx) / determinant,
        };
  return { x: column - step.x, y: row - step.y, score: map[best]! };
}

/** Returns the number of a cell of the smoothed map: beyond its edge, the map is mirrored. */
function smoothed(map: Float32Array, width: number, height: number, x: number, y: number): number {
  let sum = 0;
  for (let v = -RADIUS; v <= RADIUS; v++) {
    const row = mirror(y + v, height) * width;
    for (let u = -RADIUS; u <= RADIUS; u++)
      sum += KERNEL[v + RADIUS]! * KERNEL[u + RADIUS]! * map[row + mirror(x + u, width)]!;
  }
  return sum;
}

function gaussian(): readonly number[] {
  const weights = Array.from({ length: 2 * RADIUS + 1 }, (_, at) => Math.exp(-((at - RADIUS) ** 2) / (2 * SIGMA ** 2)));
  const sum = weights.reduce((total, one) => total + one, 0);
  return weights.map((one) => one / sum);
}

/** Mirrors a position at the edges: −1 is 0, −2 is 1. */
function mirror(position: number, size: number): number {
  const at = ((position % (2 * size)) + 2 * size) % (2 * size);
  return at < size ? at : 2 * size - 1 - at;
}

function clamp(position: number, size: number): number {
  return Math.min(Math.max(position, 0), size - 1);
}

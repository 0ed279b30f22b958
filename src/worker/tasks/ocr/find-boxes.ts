/**
 * Boxes around lines of text, from a map of a DB detector: PaddleOCR's `DBPostProcess` (boxes as quadrilaterals, score
 * mode fast), and the order of its `sorted_boxes`.
 */
import { roundHalfEven } from '../../tensors/round.js';
import { distance, type Point, type Quad } from './raster.js';
import { miniBox, offsetPolygon, perimeter, signedArea } from './rectangle.js';
import { findOutlines, type TextMap } from './regions.js';

export interface FindOptions {
  /** Pixels of the map above it are text. */
  readonly threshold: number;
  /** The minimum mean of the map within a box. */
  readonly boxThreshold: number;
  /** By how much a box grows: the margin is area × ratio / perimeter. */
  readonly unclipRatio: number;
}

/** The maximum number of outlines that are examined. */
const MAX_OUTLINES = 1000;
/** The minimum side of a box on the map, before it grows; it is two more afterwards. */
const MIN_SIDE = 3;
/** Boxes are dropped whose width or height in the photo is at most this. */
const MIN_SIDE_IN_PHOTO = 3;
/** Boxes whose tops differ by less are of one line. */
const SAME_LINE = 10;

/**
 * Returns the boxes in the photo's pixels, in reading order.
 * @param padded the size of the photo that the map is of, with what was added at the right and at the bottom
 * @param photo the size without it. PaddleOCR scales the map to this size, so its boxes of a padded photo are elsewhere
 */
export function findBoxes(
  map: TextMap,
  padded: { readonly width: number; readonly height: number },
  options: FindOptions,
  photo = padded,
): Quad[] {
  const boxes: Quad[] = [];
  for (const outline of findOutlines(map, options.threshold).slice(0, MAX_OUTLINES)) {
    const { corners, side } = miniBox(outline);
    if (side < MIN_SIDE || meanWithin(map, corners) < options.boxThreshold) continue;
    const margin = (Math.abs(signedArea(corners)) * options.unclipRatio) / perimeter(corners);
    const grown = offsetPolygon(corners, margin);
    if (grown.length === 0) continue;
    const box = miniBox(grown);
    if (box.side < MIN_SIDE + 2) continue;
    const placed = clockwise(
      box.corners.map(([x, y]): Point => [toPhoto(x, map.width, padded.width), toPhoto(y, map.height, padded.height)]),
      photo,
    );
    const [a, b, , d] = placed;
    if (Math.trunc(distance(a, b)) > MIN_SIDE_IN_PHOTO && Math.trunc(distance(a, d)) > MIN_SIDE_IN_PHOTO)
      boxes.push(placed);
  }
  return inReadingOrder(boxes);
}

function toPhoto(value: number, from: number, to: number): number {
  return Math.min(Math.max(roundHalfEven((value / from) * to), 0), to);
}

/** Returns the corners from the top left one, clockwise, within the photo. */
function clockwise(
  corners: readonly Point[],
  { width, height }: { readonly width: number; readonly height: number },
): Quad {
  const by = (key: (point: Point) => number, among: readonly Point[]): readonly Point[] =>
    among.toSorted((a, b) => key(a) - key(b));
  const sums = by(([x, y]) => x + y, corners);
  const [first, last] = [sums[0]!, corners.reduce((best, one) => (one[0] + one[1] > best[0] + best[1] ? one : best))];
  const rest = by(
    ([x, y]) => y - x,
    corners.filter((one) => one !== first && one !== last),
  );
  const within = ([x, y]: Point): Point => [Math.min(Math.max(x, 0), width - 1), Math.min(Math.max(y, 0), height - 1)];
  return [within(first), within(rest[0]!), within(last), within(rest.at(-1)!)];
}

/** Sorts boxes from the top, and those of one line from the left. */
function inReadingOrder(boxes: readonly Quad[]): Quad[] {
  const sorted = boxes.toSorted(([[x, y]], [[u, v]]) => y - v || x - u);
  for (let end = 0; end < sorted.length - 1; end++)
    for (let at = end; at >= 0; at--) {
      const [[[x, y]], [[u, v]]] = [sorted[at]!, sorted[at + 1]!];
      if (Math.abs(v - y) >= SAME_LINE || u >= x) break;
      [sorted[at], sorted[at + 1]] = [sorted[at + 1]!, sorted[at]!];
    }
  return sorted;
}

/**
 * Returns the mean of a map within a polygon with corners at whole pixels, as `cv2.fillPoly` fills it: with its
 * outline.
 */
function meanWithin({ width, height, data }: TextMap, corners: Quad): number {
  const clip = (value: number, size: number): number => Math.min(Math.max(value, 0), size - 1);
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  const [left, right] = [clip(Math.floor(Math.min(...xs)), width), clip(Math.ceil(Math.max(...xs)), width)];
  const [top, bottom] = [clip(Math.floor(Math.min(...ys)), height), clip(Math.ceil(Math.max(...ys)), height)];
  const points = corners.map(([x, y]): Point => [left + Math.trunc(x - left), top + Math.trunc(y - top)]);
  let [sum, count] = [0, 0];
  for (let y = top; y <= bottom; y++) {
    const [from, to] = spanOf(points, y);
    for (let x = Math.max(left, from); x <= Math.min(right, to); x++) {
      sum += data[y * width + x]!;
      count += 1;
    }
  }
  return count === 0 ? 0 : sum / count;
}

/** Returns the first and the last pixel of a convex polygon in a row, its outline included. */
function spanOf(points: readonly Point[], y: number): readonly [number, number] {
  let [from, to] = [Infinity, -Infinity];
  for (const [index, [x, v]] of points.entries()) {
    const [u, w] = points[(index + 1) % points.length]!;
    if (Math.min(v, w) > y || Math.max(v, w) < y) continue;
    // A flat edge covers several pixels of a row: those nearer to this row than to its neighbors.
    const reach =
      v === w
        ? [x, u]
        : [y - 0.5, y + 0.5].map(
            (edge) => x + ((Math.min(Math.max(edge, Math.min(v, w)), Math.max(v, w)) - v) / (w - v)) * (u - x),
          );
    const slope = v === w ? 0 : Math.abs((u - x) / (w - v));
    const [low, high] =
      slope > 1 || v === w
        ? [Math.min(...reach), Math.max(...reach)]
        : [x + ((y - v) / (w - v)) * (u - x), x + ((y - v) / (w - v)) * (u - x)];
    [from, to] = [Math.min(from, Math.round(low)), Math.max(to, Math.round(high))];
  }
  return [from, to];
}

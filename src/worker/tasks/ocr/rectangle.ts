/**
 * Rectangles around points, and polygons with a margin: OpenCV's `minAreaRect` and Clipper's offset, as PaddleOCR's
 * `DBPostProcess` uses them.
 */
import { distance, type Point, type Quad } from './raster.js';

/** A rotated rectangle. */
export interface MiniBox {
  /** From the top left corner, clockwise. */
  readonly corners: Quad;
  /** The length of the shorter side. */
  readonly side: number;
}

/** Returns the rectangle of the least area around points, by rotating calipers. */
export function miniBox(points: readonly Point[]): MiniBox {
  const hull = convexHull(points);
  let best: { area: number; corners: Point[]; side: number } | undefined;
  for (const [index, [x, y]] of hull.entries()) {
    const [u, v] = hull[(index + 1) % hull.length]!;
    const length = Math.hypot(u - x, v - y) || 1;
    const [dx, dy] = hull.length < 2 ? [1, 0] : [(u - x) / length, (v - y) / length];
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const [px, py] of hull) {
      const [along, across] = [px * dx + py * dy, py * dx - px * dy];
      [left, right] = [Math.min(left, along), Math.max(right, along)];
      [top, bottom] = [Math.min(top, across), Math.max(bottom, across)];
    }
    const area = (right - left) * (bottom - top);
    if (best && area > best.area) continue;
    const at = (along: number, across: number): Point => [along * dx - across * dy, along * dy + across * dx];
    const corners = [at(left, top), at(right, top), at(right, bottom), at(left, bottom)];
    best = { area, corners, side: Math.min(right - left, bottom - top) };
  }
  return { corners: inOrder(best!.corners), side: best!.side };
}

/**
 * Sorts corners as PaddleOCR's `get_mini_boxes` does: the two on the left and the two on the right, each with the upper
 * one first.
 */
function inOrder(corners: readonly Point[]): Quad {
  const [a, b, c, d] = corners.toSorted(([x], [u]) => x - u) as unknown as Quad;
  const [topLeft, bottomLeft] = b[1] > a[1] ? [a, b] : [b, a];
  const [topRight, bottomRight] = d[1] > c[1] ? [c, d] : [d, c];
  return [topLeft, topRight, bottomRight, bottomLeft];
}

/** Returns the convex hull, by Andrew's monotone chain. */
export function convexHull(points: readonly Point[]): readonly Point[] {
  const sorted = points.toSorted(([x, y], [u, v]) => x - u || y - v);
  if (sorted.length < 3) return sorted;
  const half = (from: readonly Point[]): Point[] => {
    const chain: Point[] = [];
    for (const point of from) {
      while (chain.length > 1 && turn(chain.at(-2)!, chain.at(-1)!, point) <= 0) chain.pop();
      chain.push(point);
    }
    chain.pop();
    return chain;
  };
  const hull = [...half(sorted), ...half(sorted.toReversed())];
  return hull.length > 0 ? hull : sorted.slice(0, 1);
}

/** Returns the direction of a turn: positive to one side, negative to the other one. */
function turn([x, y]: Point, [u, v]: Point, [s, t]: Point): number {
  return (u - x) * (t - y) - (v - y) * (s - x);
}

/** Clipper's tolerance for an arc, in pixels. */
const ARC_TOLERANCE = 0.25;

/**
 * Returns a convex polygon with a margin around it and round corners, as Clipper 6's `OffsetPoint` makes it with
 * `jtRound`: of whole pixels, from corners that are cut down to whole pixels.
 */
export function offsetPolygon(corners: readonly Point[], margin: number): Point[] {
  const path = clean(corners.map(([x, y]): Point => [Math.trunc(x), Math.trunc(y)]));
  if (path.length < 3) return [];
  const least = Math.min(ARC_TOLERANCE, margin * ARC_TOLERANCE);
  const steps = Math.min(Math.PI / Math.acos(1 - least / margin), margin * Math.PI);
  const [sin, cos] = [Math.sin((2 * Math.PI) / steps), Math.cos((2 * Math.PI) / steps)];
  const normals = path.map(([x, y], index): Point => {
    const [u, v] = path[(index + 1) % path.length]!;
    const length = Math.hypot(u - x, v - y);
    return [(v - y) / length, (x - u) / length];
  });
  const result: Point[] = [];
  for (const [index, [x, y]] of path.entries()) {
    const push = (nx: number, ny: number): void =>
      void result.push([roundAway(x + nx * margin), roundAway(y + ny * margin)]);
    const [[kx, ky], [jx, jy]] = [normals.at(index - 1)!, normals[index]!];
    const sine = kx * jy - jx * ky;
    const cosine = kx * jx + ky * jy;
    if (Math.abs(sine * margin) < 1 && cosine > 0) {
      push(kx, ky);
      continue;
    }
    const turns = Math.max(
      Math.round((steps / (2 * Math.PI)) * Math.abs(Math.atan2(Math.min(Math.max(sine, -1), 1), cosine))),
      1,
    );
    let [nx, ny] = [kx, ky];
    for (let step = 0; step < turns; step++) {
      push(nx, ny);
      [nx, ny] = [nx * cos - sin * ny, nx * sin + ny * cos];
    }
    push(jx, jy);
  }
  return result;
}

/** Removes points that are equal to their neighbor, and orients the polygon as Clipper does. */
function clean(points: readonly Point[]): Point[] {
  const path = points.filter(([x, y], index) => {
    const [u, v] = points.at(index - 1)!;
    return points.length === 1 || x !== u || y !== v;
  });
  return signedArea(path) < 0 ? path.toReversed() : path;
}

function roundAway(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value);
}

/** Returns the area of a polygon: positive if it is clockwise, with y downwards. */
export function signedArea(points: readonly Point[]): number {
  return points.reduce((sum, [x, y], index) => {
    const [u, v] = points[(index + 1) % points.length]!;
    return sum + (x * v - u * y) / 2;
  }, 0);
}

/** Returns the length of a polygon's outline. */
export function perimeter(points: readonly Point[]): number {
  return points.reduce((sum, point, index) => sum + distance(point, points[(index + 1) % points.length]!), 0);
}

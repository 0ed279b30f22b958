/**
 * The part of a photo that a model of landmarks sees: MediaPipe's rotated squares, from the points of a detector or from
 * the landmarks of the frame before.
 */
import type { Box } from '../../outputs/boxes/detection.js';
import type { Region } from '../../../contract/images.js';
import { boxAround } from './found.js';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** How a region is made of a box. */
export interface RegionRule {
  /** How often the region's side has the longer side of the box. */
  readonly scale: number;
  /** How far the region is moved along the turned y axis, in heights of the box. */
  readonly shift?: number;
}

/**
 * Returns the angle by which an image must be turned clockwise, so that the line from one point to the other has the
 * direction `target` in it.
 * @param target in radians, counterclockwise from the right: π/2 is upwards
 * @returns in −π..π
 */
export function turnOf(from: Point, to: Point, target: number): number {
  const angle = target - Math.atan2(from.y - to.y, to.x - from.x);
  return angle - 2 * Math.PI * Math.floor((angle + Math.PI) / (2 * Math.PI));
}

/** Returns the smallest square around an image. */
export function squareOf({ width, height }: { readonly width: number; readonly height: number }): Region {
  const side = Math.max(width, height);
  return { x: width / 2, y: height / 2, width: side, height: side, angle: 0 };
}

/** Returns the square region around a box. @param angle the turn of the region, clockwise, in radians */
export function regionOfBox({ xmin, ymin, xmax, ymax }: Box, angle: number, rule: RegionRule): Region {
  const center = { x: (xmin + xmax) / 2, y: (ymin + ymax) / 2 };
  return squareAround(center, xmax - xmin, ymax - ymin, angle, rule);
}

/** Returns the square region around points: around the smallest rectangle of them that is turned by `angle`. */
export function regionOfPoints(points: readonly Point[], angle: number, rule: RegionRule): Region {
  const straight = boxAround(points.map((point) => turn(point, -angle)));
  const center = turn({ x: (straight.xmin + straight.xmax) / 2, y: (straight.ymin + straight.ymax) / 2 }, angle);
  return squareAround(center, straight.xmax - straight.xmin, straight.ymax - straight.ymin, angle, rule);
}

/** Returns the square region around a circle, given by its center and a point on it. */
export function regionOfCircle(center: Point, edge: Point, angle: number, rule: RegionRule): Region {
  const size = 2 * Math.hypot(edge.x - center.x, edge.y - center.y);
  return squareAround(center, size, size, angle, rule);
}

function squareAround(
  { x, y }: Point,
  width: number,
  height: number,
  angle: number,
  { scale, shift = 0 }: RegionRule,
): Region {
  const moved = turn({ x: 0, y: height * shift }, angle);
  const side = Math.max(width, height) * scale;
  return { x: x + moved.x, y: y + moved.y, width: side, height: side, angle };
}

/** Turns a point around (0, 0), clockwise. */
export function turn({ x, y }: Point, angle: number): Point {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return { x: cos * x - sin * y, y: sin * x + cos * y };
}

/**
 * Converts a point of a region to the photo.
 * @param point from (0, 0), the region's left top corner, to (1, 1); z in units of the region's width
 * @returns in pixels of the photo
 */
export function toPhoto({ x, y, z }: Point & { readonly z: number }, region: Region): Point & { readonly z: number } {
  const turned = turn({ x: (x - 0.5) * region.width, y: (y - 0.5) * region.height }, region.angle);
  return { x: region.x + turned.x, y: region.y + turned.y, z: z * region.width };
}

/** Returns whether a region shows anything: one around points that are all at the same position does not. */
export function hasInside({ width, height }: Region): boolean {
  return width > 0 && height > 0;
}

/** Returns the upright box around a region. */
export function boxOfRegion({ x, y, width, height, angle }: Region): Box {
  const corners = [-1, 1].flatMap((right) =>
    [-1, 1].map((down) => turn({ x: (right * width) / 2, y: (down * height) / 2 }, angle)),
  );
  const { xmin, ymin, xmax, ymax } = boxAround(corners);
  return { xmin: x + xmin, ymin: y + ymin, xmax: x + xmax, ymax: y + ymax };
}

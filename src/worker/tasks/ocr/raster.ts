/**
 * Pixels and their geometry as OpenCV has them: PaddleOCR's models were trained on lines that OpenCV has cut out and
 * scaled.
 */
import type { Pixels } from '../../../contract/images.js';

/** 8-bit RGB, three bytes a pixel, rows without gaps. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array | Uint8ClampedArray;
}

/** A point in pixels. */
export type Point = readonly [x: number, y: number];

/** Four corners, clockwise from the top left one. */
export type Quad = readonly [Point, Point, Point, Point];

/** Converts pixels of any format to RGB. */
export function toRaster({ format, width, height, stride, data }: Pixels): Raster {
  const bytes = format === 'L' ? 1 : format.length;
  const [red, green, blue] = format === 'L' ? [0, 0, 0] : format.startsWith('BGR') ? [2, 1, 0] : [0, 1, 2];
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0, to = 0; y < height; y++)
    for (let x = 0, from = y * stride; x < width; x++, from += bytes) {
      rgb[to++] = data[from + red]!;
      rgb[to++] = data[from + green]!;
      rgb[to++] = data[from + blue]!;
    }
  return { width, height, data: rgb };
}

/** Scales as `cv2.resize` does (INTER_LINEAR): between the two nearest pixels, without antialiasing. */
export function resizeLinear(image: Raster, width: number, height: number): Raster {
  const data = new Uint8Array(width * height * 3);
  const [columns, rows] = [linearTaps(image.width, width), linearTaps(image.height, height)];
  const from = image.data;
  for (let y = 0, to = 0; y < height; y++) {
    const { at: top, next: below, weight: down } = rows[y]!;
    const [upper, lower] = [top * image.width * 3, below * image.width * 3];
    for (let x = 0; x < width; x++) {
      const { at, next, weight } = columns[x]!;
      for (let channel = 0; channel < 3; channel++, to++) {
        const [a, b] = [at * 3 + channel, next * 3 + channel];
        const above = from[upper + a]! * (1 - weight) + from[upper + b]! * weight;
        const under = from[lower + a]! * (1 - weight) + from[lower + b]! * weight;
        data[to] = Math.round(above * (1 - down) + under * down);
      }
    }
  }
  return { width, height, data };
}

interface Tap {
  readonly at: number;
  readonly next: number;
  /** Of `next`. */
  readonly weight: number;
}

function linearTaps(from: number, to: number): Tap[] {
  return Array.from({ length: to }, (_, index) => {
    const position = Math.min(Math.max(((index + 0.5) * from) / to - 0.5, 0), from - 1);
    const at = Math.floor(position);
    return { at, next: Math.min(at + 1, from - 1), weight: position - at };
  });
}

/** Turns by 180°. */
export function turnAround({ width, height, data }: Raster): Raster {
  const turned = new Uint8Array(data.length);
  for (let from = 0, to = data.length - 3; to >= 0; from += 3, to -= 3) {
    turned[to] = data[from]!;
    turned[to + 1] = data[from + 1]!;
    turned[to + 2] = data[from + 2]!;
  }
  return { width, height, data: turned };
}

/** Turns by 90° counterclockwise, as `np.rot90` does. */
function turnLeft({ width, height, data }: Raster): Raster {
  const turned = new Uint8Array(data.length);
  for (let y = 0, to = 0; y < width; y++)
    for (let x = 0; x < height; x++) {
      const from = (x * width + width - 1 - y) * 3;
      for (let channel = 0; channel < 3; channel++) turned[to++] = data[from + channel]!;
    }
  return { width: height, height: width, data: turned };
}

/** A line that is at least this many times higher than wide runs downwards. */
const DOWNWARDS = 1.5;

/** Returns the size of a quadrilateral, cut out and made a rectangle, before it is turned. */
function sizeOf([a, b, c, d]: Quad): readonly [width: number, height: number] {
  return [
    Math.max(1, Math.trunc(Math.max(distance(a, b), distance(c, d)))),
    Math.max(1, Math.trunc(Math.max(distance(a, d), distance(b, c)))),
  ];
}

/** Returns the width of what `cropQuad` cuts out, divided by its height. */
export function ratioOf(quad: Quad): number {
  const [width, height] = sizeOf(quad);
  return height / width >= DOWNWARDS ? height / width : width / height;
}

/**
 * Cuts out a quadrilateral and makes it a rectangle, as PaddleOCR's `get_rotate_crop_image` does: by
 * `cv2.warpPerspective`, bicubic, with the pixels at the border repeated. A line that runs downwards is turned to the
 * left.
 */
export function cropQuad(image: Raster, quad: Quad): Raster {
  const [width, height] = sizeOf(quad);
  const line = warp(image, quad, width, height);
  return height / width >= DOWNWARDS ? turnLeft(line) : line;
}

/** Returns the distance of two points. */
export function distance([x, y]: Point, [u, v]: Point): number {
  return Math.hypot(x - u, y - v);
}

/** OpenCV rounds positions to this many parts of a pixel. */
const PARTS = 32;

function warp(image: Raster, quad: Quad, width: number, height: number): Raster {
  const [a, b, c, d, e, f, g, h] = perspective(quad, width, height) as unknown as readonly [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const data = new Uint8Array(width * height * 3);
  const { data: from, width: columns, height: rows } = image;
  const sums = [0, 0, 0];
  for (let y = 0, to = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const scale = PARTS / (g * x + h * y + 1);
      const [u, v] = [Math.round((a * x + b * y + c) * scale), Math.round((d * x + e * y + f) * scale)];
      const [left, top] = [(u >> 5) - 1, (v >> 5) - 1];
      const [across, down] = [CUBIC[u & (PARTS - 1)]!, CUBIC[v & (PARTS - 1)]!];
      sums.fill(0);
      for (let j = 0; j < 4; j++) {
        const row = Math.min(Math.max(top + j, 0), rows - 1) * columns;
        for (let i = 0; i < 4; i++) {
          const weight = down[j]! * across[i]!;
          const at = (row + Math.min(Math.max(left + i, 0), columns - 1)) * 3;
          for (let channel = 0; channel < 3; channel++) sums[channel]! += weight * from[at + channel]!;
        }
      }
      for (const sum of sums) data[to++] = Math.min(Math.max(Math.round(sum), 0), 255);
    }
  return { width, height, data };
}

/** OpenCV's bicubic weights (A = −0.75) of four neighbors, by the part of a pixel. */
const CUBIC = Array.from({ length: PARTS }, (_, part) => {
  const [x, A] = [part / PARTS, -0.75];
  const first = ((A * (x + 1) - 5 * A) * (x + 1) + 8 * A) * (x + 1) - 4 * A;
  const second = ((A + 2) * x - (A + 3)) * x * x + 1;
  const third = ((A + 2) * (1 - x) - (A + 3)) * (1 - x) * (1 - x) + 1;
  return [first, second, third, 1 - first - second - third];
});

/**
 * Returns the eight numbers of the projection that maps the corners of a rectangle to those of a quadrilateral:
 * (ax+by+c, dx+ey+f) / (gx+hy+1).
 */
function perspective(quad: Quad, width: number, height: number): readonly number[] {
  const corners: readonly Point[] = [
    [0, 0],
    [width, 0],
    [width, height],
    [0, height],
  ];
  const rows = corners.flatMap(([x, y], index) => {
    const [u, v] = quad[index]!;
    return [
      [x, y, 1, 0, 0, 0, -u * x, -u * y, u],
      [0, 0, 0, x, y, 1, -v * x, -v * y, v],
    ];
  });
  return solve(rows);
}

/**
 * Solves linear equations: each row has the factors, and the right side as its last number. Gauss–Jordan with pivots.
 */
function solve(rows: number[][]): number[] {
  const size = rows.length;
  for (let column = 0; column < size; column++) {
    let pivot = column;
    for (let row = column + 1; row < size; row++)
      if (Math.abs(rows[row]![column]!) > Math.abs(rows[pivot]![column]!)) pivot = row;
    [rows[column], rows[pivot]] = [rows[pivot]!, rows[column]!];
    const own = rows[column]!;
    // Corners on one line have no projection; zeros keep the numbers finite.
    const factor = own[column] === 0 ? 0 : 1 / own[column]!;
    for (let at = column; at <= size; at++) own[at]! *= factor;
    for (const [index, row] of rows.entries()) {
      const times = row[column]!;
      if (index === column || times === 0) continue;
      for (let at = column; at <= size; at++) row[at]! -= times * own[at]!;
    }
  }
  return rows.map((row) => row[size]!);
}

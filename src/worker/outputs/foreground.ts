/**
 * The colors of what stands before a background, where its edges are mixed with it.
 * @see https://doi.org/10.1109/ICIP42928.2021.9506164 Marco Forte, "Approximate Fast Foreground Colour Estimation", 2021:
 *   blur fusion, twice, with boxes of 90 and of 6 pixels
 */
import { mirroredIndices } from '../tensors/mirror.js';

/** The sides of the boxes, in pixels. */
const BOXES = [90, 6] as const;

/** Keeps a division by no weight finite. */
const LEAST = 1e-5;

interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * Replaces the colors of a photo by those of its foreground alone, and its alpha. Where alpha is 1, the color is the
 * photo's; where it is less, the mean colors of the foreground and of the background around it say which part of the
 * color is the foreground's.
 * @param pixels RGBA of `width` × `height`, which this function writes to
 * @param alpha how much of each pixel is foreground, in 0..1
 */
export function cutOut(pixels: Uint8ClampedArray, alpha: Float32Array, size: Size): void {
  const rest = alpha.map((value) => 1 - value);
  const masses = BOXES.map((box) => boxBlur(alpha, size, box));
  for (let channel = 0; channel < 3; channel++) {
    const color = Float32Array.from(alpha, (_, at) => pixels[at * 4 + channel]! / 255);
    let foreground = color;
    let background = color;
    for (const [pass, box] of BOXES.entries()) {
      const mass = masses[pass]!;
      const near = boxBlur(product(foreground, alpha), size, box);
      const far = boxBlur(product(background, rest), size, box);
      for (let at = 0; at < near.length; at++) {
        near[at] = near[at]! / (mass[at]! + LEAST);
        far[at] = far[at]! / (1 - mass[at]! + LEAST);
      }
      foreground = near.map((own, at) => {
        const mixed = alpha[at]! * own + rest[at]! * far[at]!;
        return Math.min(Math.max(own + alpha[at]! * (color[at]! - mixed), 0), 1);
      });
      background = far;
    }
    for (let at = 0; at < foreground.length; at++) pixels[at * 4 + channel] = foreground[at]! * 255;
  }
  for (let at = 0; at < alpha.length; at++) pixels[at * 4 + 3] = alpha[at]! * 255;
}

function product(one: Float32Array, other: Float32Array): Float32Array<ArrayBuffer> {
  return Float32Array.from(one, (value, at) => value * other[at]!);
}

/** Returns the mean of `box` × `box` pixels around each pixel; beyond the edges the map is mirrored. */
function boxBlur(map: Float32Array, { width, height }: Size, box: number): Float32Array<ArrayBuffer> {
  const before = box >> 1;
  const across = new Float32Array(map.length);
  const columns = mirroredIndices(width, -before, width + box, false);
  for (let y = 0; y < height; y++) {
    const line = map.subarray(y * width, (y + 1) * width);
    let sum = 0;
    for (let tap = 0; tap < box; tap++) sum += line[columns[tap]!]!;
    for (let x = 0; x < width; x++) {
      across[y * width + x] = sum / box;
      sum += line[columns[x + box]!]! - line[columns[x]!]!;
    }
  }
  const out = new Float32Array(map.length);
  const rows = mirroredIndices(height, -before, height + box, false);
  const sums = new Float64Array(width);
  const add = (row: number, sign: 1 | -1): void => {
    for (let x = 0; x < width; x++) sums[x]! += sign * across[row * width + x]!;
  };
  for (let tap = 0; tap < box; tap++) add(rows[tap]!, 1);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) out[y * width + x] = sums[x]! / box;
    add(rows[y + box]!, 1);
    add(rows[y]!, -1);
  }
  return out;
}

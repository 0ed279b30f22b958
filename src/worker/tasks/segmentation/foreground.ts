/**
 * The colors of what stands before a background, where its edges are mixed with it.
 * @see https://doi.org/10.1109/ICIP42928.2021.9506164 Marco Forte, "Approximate Fast Foreground Colour Estimation", 2021:
 *   blur fusion, twice, with boxes of 90 and of 6 pixels
 */
import type { MaybePromise } from '../../../contract/handler.js';
import { mirroredIndices } from '../../tensors/mirror.js';

/** The sides of the boxes, in pixels. */
const BOXES = [90, 6] as const;

/** The minimal weight, which keeps a division by no weight finite. */
const MIN_WEIGHT = 1e-5;

/** The pixels of a channel that are computed at a time: some milliseconds. */
const BAND = 200_000;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** One channel of a photo, and what is known of its parts. Maps are row-major; colors and alpha are in 0..1. */
interface Channel {
  readonly alpha: Float32Array;
  /** The photo's colors. */
  readonly color: Float32Array;
  /** What the foreground and the background may look like at each pixel. */
  readonly foreground: Float32Array;
  readonly background: Float32Array;
}

/** The maps that a pass writes to. */
interface Estimate {
  /** May be the channel's `color`. */
  readonly foreground: Float32Array;
  readonly background?: Float32Array;
}

/**
 * Replaces the colors of a photo by those of its foreground alone, and its alpha. Where alpha is 1, the color is the
 * photo's; where it is less, the mean colors of the foreground and of the background around it say which part of the
 * color is the foreground's.
 * @param pixels RGBA of `width` × `height`, which this function writes to
 * @param alpha how much of each pixel is foreground, in 0..1
 * @param pause is called every few milliseconds; what it throws ends the work
 */
export async function cutOut(
  pixels: Uint8ClampedArray,
  alpha: Float32Array,
  size: Size,
  pause: () => MaybePromise<void>,
): Promise<void> {
  const color = new Float32Array(alpha.length);
  const foreground = new Float32Array(alpha.length);
  const background = new Float32Array(alpha.length);
  for (let channel = 0; channel < 3; channel++) {
    for (let at = 0; at < color.length; at++) color[at] = pixels[at * 4 + channel]! / 255;
    const photo = { alpha, color, foreground: color, background: color };
    await fuse(photo, size, BOXES[0], { foreground, background }, pause);
    await fuse({ alpha, color, foreground, background }, size, BOXES[1], { foreground: color }, pause);
    for (let at = 0; at < color.length; at++) pixels[at * 4 + channel] = color[at]! * 255;
  }
  for (let at = 0; at < alpha.length; at++) pixels[at * 4 + 3] = alpha[at]! * 255;
}

/** Estimates one channel of the foreground, and of the background, from their means in a box around each pixel. */
async function fuse(
  { alpha, color, foreground, background }: Channel,
  { width, height }: Size,
  box: number,
  estimate: Estimate,
  pause: () => MaybePromise<void>,
): Promise<void> {
  const rows = mirroredIndices(height, -(box >> 1), height + box, false);
  const columns = mirroredIndices(width, -(box >> 1), width + box, false);
  // The sums of the box's rows at each column.
  const [masses, nears, fars] = [new Float64Array(width), new Float64Array(width), new Float64Array(width)];
  const add = (row: number, sign: 1 | -1): void => {
    for (let x = 0, at = row * width; x < width; x++, at++) {
      const weight = sign * alpha[at]!;
      masses[x]! += weight;
      nears[x]! += weight * foreground[at]!;
      fars[x]! += (sign - weight) * background[at]!;
    }
  };
  for (let tap = 0; tap < box; tap++) add(rows[tap]!, 1);
  const band = Math.ceil(BAND / width);
  const area = box * box;
  for (let y = 0; y < height; y++) {
    if (y % band === 0) await pause();
    let [mass, near, far] = [0, 0, 0];
    for (let tap = 0; tap < box; tap++) {
      mass += masses[columns[tap]!]!;
      near += nears[columns[tap]!]!;
      far += fars[columns[tap]!]!;
    }
    for (let x = 0, at = y * width; x < width; x++, at++) {
      const weight = alpha[at]!;
      const own = near / (mass + MIN_WEIGHT * area);
      const other = far / (area - mass + MIN_WEIGHT * area);
      const found = own + weight * (color[at]! - weight * own - (1 - weight) * other);
      estimate.foreground[at] = found < 0 ? 0 : found > 1 ? 1 : found;
      if (estimate.background) estimate.background[at] = other;
      const [next, last] = [columns[x + box]!, columns[x]!];
      mass += masses[next]! - masses[last]!;
      near += nears[next]! - nears[last]!;
      far += fars[next]! - fars[last]!;
    }
    add(rows[y + box]!, 1);
    add(rows[y]!, -1);
  }
}

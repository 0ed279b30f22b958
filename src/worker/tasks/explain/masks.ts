/**
 * The masks of occlusion and of RISE, which show a part of an image: 1 where a pixel is shown, 0 where it is covered.
 */
import { invalidInput } from '../../../contract/errors.js';
import { MAX_VARIANTS } from '../../../contract/limits.js';
import type { Size } from '../../outputs/boxes/decoder.js';

/** Masks of one size, to be generated in order, and the heat map of the scores of the images that they show. */
export interface Masks {
  readonly count: number;
  /** Returns the next mask, `height` · `width` numbers in 0..1. */
  draw(): Float32Array;
  /** Adds the score of the image that `mask` shows. */
  add(mask: Float32Array, score: number): void;
  /** Returns the heat map of the scores so far; NaN for a pixel of which no score tells. */
  heat(): Float64Array;
}

export interface OcclusionOptions {
  readonly window: number;
  readonly stride: number;
}

/**
 * Covers the image with a window that moves by `stride` (Zeiler and Fergus, arXiv:1311.2901). The heat of a pixel is
 * the mean fall of the score over the windows that cover it. The last windows of a row and of a column are cut off at
 * the edge, as in Captum's `Occlusion`.
 * @param full the score of the whole image
 * @throws `invalid-input` if the window is larger than the image, if the stride leaves gaps, or if there are too many
 *   windows
 */
export function occlusionMasks({ width, height }: Size, { window, stride }: OcclusionOptions, full: number): Masks {
  if (window > width || window > height)
    throw invalidInput(`window: it must fit into the model's input of ${width} × ${height} pixels, got ${window}.`);
  if (stride > window)
    throw invalidInput(
      `stride: it must be at most the window of ${window} pixels, or pixels would never be covered, got ${stride}.`,
    );
  const steps = (size: number): number => Math.ceil((size - window) / stride) + 1;
  const [columns, rows] = [steps(width), steps(height)];
  const count = columns * rows;
  if (count > MAX_VARIANTS)
    throw invalidInput(
      `stride: there would be ${count} windows, and the limit is ${MAX_VARIANTS}. Use a larger stride.`,
    );
  const [falls, covered] = [new Float64Array(width * height), new Uint32Array(width * height)];
  let next = 0;
  return {
    count,
    draw() {
      const [x, y] = [(next % columns) * stride, Math.floor(next / columns) * stride];
      next += 1;
      const mask = new Float32Array(width * height).fill(1);
      for (let row = y; row < Math.min(y + window, height); row++)
        mask.fill(0, row * width + x, row * width + Math.min(x + window, width));
      return mask;
    },
    add(mask, score) {
      for (let i = 0; i < mask.length; i++)
        if (mask[i] === 0) {
          falls[i]! += full - score;
          covered[i]! += 1;
        }
    },
    heat: () => falls.map((sum, i) => sum / covered[i]!),
  };
}

export interface RiseOptions {
  readonly masks: number;
  readonly grid: number;
  readonly probability: number;
  readonly seed: number;
}

/**
 * Samples the random masks of RISE (Petsiuk, Das and Saenko, arXiv:1806.07421): each is a grid of `grid` × `grid`
 * cells, of which each is 1 with `probability`, enlarged bilinearly (pixel centers at half pixels) to `grid` + 1 cells
 * of ⌈size / grid⌉ pixels and cut to the image's size at a random position. The heat of a pixel is Σ score · mask /
 * (`probability` · `masks`).
 *
 * The numbers are those of `numpy.random.RandomState(seed).random_sample()`, for each mask in this order: the cells row
 * by row, 1 if the number is below `probability`; the number of rows to cut off, ⌊number · cell height⌋; that of
 * columns.
 * @throws `invalid-input` if the grid has more cells than the image has pixels
 */
export function riseMasks({ width, height }: Size, { masks, grid, probability, seed }: RiseOptions): Masks {
  if (grid > width || grid > height)
    throw invalidInput(`grid: the model's input of ${width} × ${height} pixels cannot have ${grid} cells on a side.`);
  const random = mersenneTwister(seed);
  const [cellWidth, cellHeight] = [Math.ceil(width / grid), Math.ceil(height / grid)];
  const sums = new Float64Array(width * height);
  let added = 0;
  return {
    count: masks,
    draw() {
      const cells = Array.from({ length: grid * grid }, () => Number(random() < probability));
      const top = Math.floor(random() * cellHeight);
      const left = Math.floor(random() * cellWidth);
      const columns = Array.from({ length: width }, (_, x) => tap(x + left, cellWidth, grid));
      const mask = new Float32Array(width * height);
      for (let y = 0; y < height; y++) {
        const row = tap(y + top, cellHeight, grid);
        // One line of the grid, interpolated between two of its rows.
        const line = Array.from({ length: grid }, (_, x) =>
          mix(cells[row.from * grid + x]!, cells[row.to * grid + x]!, row.share),
        );
        for (let x = 0; x < width; x++) {
          const { from, to, share } = columns[x]!;
          mask[y * width + x] = mix(line[from]!, line[to]!, share);
        }
      }
      return mask;
    },
    add(mask, score) {
      added += 1;
      for (let i = 0; i < mask.length; i++) sums[i]! += score * mask[i]!;
    },
    heat: () => sums.map((sum) => sum / (probability * added)),
  };
}

/** Returns the two cells between which a pixel of the enlarged grid lies, and the share of the second. */
function tap(pixel: number, cell: number, grid: number): { from: number; to: number; share: number } {
  const at = Math.min(Math.max(((pixel + 0.5) * grid) / ((grid + 1) * cell) - 0.5, 0), grid - 1);
  const from = Math.floor(at);
  return { from, to: Math.min(from + 1, grid - 1), share: at - from };
}

function mix(a: number, b: number, share: number): number {
  return a + (b - a) * share;
}

const SIZE = 624;

/**
 * Returns a generator of uniform numbers in [0, 1) with 53 bits: MT19937 (Matsumoto and Nishimura, 1998, `init_genrand`
 * and `genrand_res53`). It generates the same numbers as `numpy.random.RandomState(seed).random_sample()`.
 * @param seed an integer in 0..2³² − 1
 */
export function mersenneTwister(seed: number): () => number {
  const state = new Uint32Array(SIZE);
  state[0] = seed;
  for (let i = 1; i < SIZE; i++) state[i] = Math.imul(1812433253, state[i - 1]! ^ (state[i - 1]! >>> 30)) + i;
  let at = SIZE;

  const bits = (): number => {
    if (at === SIZE) {
      for (let i = 0; i < SIZE; i++) {
        const y = (state[i]! & 0x80000000) | (state[(i + 1) % SIZE]! & 0x7fffffff);
        state[i] = state[(i + 397) % SIZE]! ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
      }
      at = 0;
    }
    let y = state[at++]!;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  };
  return () => {
    const high = bits() >>> 5;
    return (high * 2 ** 26 + (bits() >>> 6)) / 2 ** 53;
  };
}

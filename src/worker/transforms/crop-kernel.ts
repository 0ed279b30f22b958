/** Samples rotated rectangles in WebAssembly: `crop.wat`. */
import type { Pixels, Rect, Strips } from '../../contract/images.js';
import { bytesOf, instantiate } from '../tensors/wasm-kernel.js';
import { CROP_WASM } from './crop.wasm.js';
import { PIXEL_BYTES } from './pixel-window.js';

/**
 * What is beyond the image: its nearest pixel; black, which the outermost pixels fade to (zero); or black without
 * fading, as scipy's `affine_transform` has it (cut).
 */
export type Border = 'replicate' | 'zero' | 'cut';

/** (x, y) = (a·u + b·v + c, d·u + e·v + f) */
export interface AffineMap {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly e: number;
  readonly f: number;
}

type Size = Pick<Pixels, 'width' | 'height'>;

interface Exports {
  readonly memory: WebAssembly.Memory;
  /**
   * @param from the byte of the image's first pixel, of which there is only a part in the memory
   * @param border 0 replicate, 1 zero, 2 cut
   * @param isBgr 1 if the pixels' bytes are blue, green, red
   * @param to where the crop's RGB is written, with a byte more
   */
  sample(
    from: number,
    stride: number,
    width: number,
    height: number,
    border: number,
    isBgr: number,
    ...map: [
      a: number,
      b: number,
      c: number,
      d: number,
      e: number,
      f: number,
      columns: number,
      rows: number,
      to: number,
    ]
  ): void;
}

/** The kernel's memory never shrinks, so larger parts are sampled without it: four megapixels. */
const MAX_BYTES = 2 ** 24;
/** The rows that are made at a time: of a frame, they stay in the processor's cache. */
const STRIP_ROWS = 32;
const BORDERS: readonly Border[] = ['replicate', 'zero', 'cut'];

/** Undefined before the first crop; null where WebAssembly or its SIMD is missing, or a policy forbids it. */
let exports: Exports | null | undefined;

/** Returns whether the kernel samples a part of this size, if its pixels have four bytes. */
export function hasCropKernel({ width, height }: Size): boolean {
  if (width * height * 4 > MAX_BYTES) return false;
  if (exports === undefined) exports = instantiate<Exports>(CROP_WASM) ?? null;
  return exports !== null;
}

/**
 * Samples a crop; it takes a third of the time of JavaScript.
 * @param part the pixels of `source`, of four bytes each
 * @param source the part of the image that the crop shows
 * @param image its size
 * @returns RGB, without gaps between rows
 */
export function sampleByKernel(
  part: Pixels | Strips,
  source: Rect,
  image: Size,
  { a, b, c, d, e, f }: AffineMap,
  crop: Size,
  border: Border,
): Uint8ClampedArray {
  const { memory, sample } = exports!;
  const stride = source.width * 4;
  const to = source.height * stride;
  const bytes = crop.width * crop.height * 3;
  copyRows(part, source, bytesOf(memory, to + bytes + 1));
  const from = -source.y * stride - source.x * 4;
  const isBgr = part.format.startsWith('BGR') ? 1 : 0;
  const { width, height } = image;
  const mode = BORDERS.indexOf(border);
  sample(from, stride, width, height, mode, isBgr, a, b, c, d, e, f, crop.width, crop.height, to);
  return new Uint8ClampedArray(memory.buffer.slice(to, to + bytes));
}

/** Copies rows without gaps between them to the start of a memory. */
function copyRows(part: Pixels | Strips, { width, height }: Size, memory: Uint8Array): void {
  const row = width * PIXEL_BYTES.RGBX;
  if ('strip' in part)
    for (let top = 0; top < height; top += STRIP_ROWS)
      memory.set(part.strip(top, Math.min(STRIP_ROWS, height - top)), top * row);
  else for (let y = 0; y < height; y++) memory.set(part.data.subarray(y * part.stride, y * part.stride + row), y * row);
}

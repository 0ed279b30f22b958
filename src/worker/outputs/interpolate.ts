import type { OnArrayBuffer } from '../../contract/tensors.js';
import { takeReady } from '../tensors/buffers.js';
import {
  createInterpolateKernel,
  createJsInterpolateKernel,
  type InterpolateKernel,
  SLACK,
} from './interpolate-kernel.js';
import { strides, type Maps } from './maps.js';

/**
 * One axis of a resampling. Each pixel of the image lies between the map's pixels `from` and `to`, at the fraction
 * `weight`.
 */
export interface Axis {
  readonly size: number;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly weight: Float64Array;
  /** The pixels `first` to `end`, exclusive, have their center in the map. A crop removed the others. */
  readonly first: number;
  readonly end: number;
}

/** Both axes of a resampling. */
export interface Grid {
  readonly columns: Axis;
  readonly rows: Axis;
}

/** The tolerance for float64 rounding of sizes and positions. */
const ROUNDING = 1e-6;

/**
 * Computes one axis of bilinear sampling with half-pixel centers, as
 * `torch.nn.functional.interpolate(…, mode='bilinear', align_corners=False, antialias=False)`: the center of pixel `i`
 * lies at `(i + 0.5) * scale + offset - 0.5` in the map's pixels. The axis does not sample pixels of the map that
 * belong to the padding.
 * @param size the size of the image, in pixels
 * @param mapSize the size of the map, in pixels
 * @param scale together with `offset`: the point `x` of the image lies at `x * scale + offset` in the map, where 0 is
 *   the outer corner of the first pixel
 */
export function axis(size: number, mapSize: number, scale = mapSize / size, offset = 0): Axis {
  const lowest = Math.max(0, Math.floor(offset + ROUNDING));
  const highest = Math.min(mapSize, Math.ceil(size * scale + offset - ROUNDING)) - 1;
  const [from, to, weight] = [new Int32Array(size), new Int32Array(size), new Float64Array(size)];
  let [first, end] = [size, 0];
  for (let i = 0; i < size; i++) {
    const center = (i + 0.5) * scale + offset;
    if (center >= 0 && center <= mapSize) [first, end] = [Math.min(first, i), i + 1];
    const at = Math.min(Math.max(center - 0.5, lowest), highest);
    from[i] = Math.floor(at);
    to[i] = Math.min(from[i]! + 1, highest);
    weight[i] = at - from[i]!;
  }
  return { size, from, to, weight, first: Math.min(first, end), end };
}

/**
 * A pair of rows that are interpolated along the columns, in a kernel's memory, between which rows of the image lie.
 */
interface Between {
  readonly kernel: InterpolateKernel;
  /** Byte offsets of `channels * columns.size` float64. */
  readonly above: number;
  readonly below: number;
  /** The first of these rows, and their number: at most `MAX_ROWS`. */
  readonly y: number;
  readonly count: number;
  /** Byte offset of their weights, as float64. */
  readonly weights: number;
  /** Byte offset of room for `channels * columns.size` float64, or for `MAX_ROWS` rows of `columns.size` float32. */
  readonly target: number;
}

/** The rows between the same two rows of the map that are computed at a time. */
const MAX_ROWS = 4;

/** A WebAssembly memory never shrinks: what needs more than this is computed in memory that can be collected. */
const MAX_KERNEL_BYTES = 8 << 20;

let shared: InterpolateKernel | undefined;

function kernelFor(bytes: number): InterpolateKernel {
  return bytes > MAX_KERNEL_BYTES ? createJsInterpolateKernel() : (shared ??= createInterpolateKernel());
}

/**
 * Samples all channels, one row of the image at a time, so that memory holds only the interpolated rows.
 * @param visit receives row `y` as `values[channel * columns.size + x]`, for `x` from `columns.first` to `columns.end`;
 *   the next call overwrites the array
 */
export function eachRow(
  maps: Maps,
  grid: Grid,
  visit: (values: Float64Array, y: number) => void,
  kernel?: InterpolateKernel,
): void {
  const length = maps.channels * grid.columns.size;
  let values: Float64Array | undefined;
  betweenRows(
    maps,
    grid,
    ({ kernel, above, below, y, count, target }) => {
      values ??= new Float64Array(kernel.memory(0), target, length);
      for (let row = y; row < y + count; row++) {
        kernel.down(above, below, grid.rows.weight[row]!, length, target);
        visit(values, row);
      }
    },
    kernel,
  );
}

/** Calls `visit` for all rows of the image that are in the map, a few at a time. */
function betweenRows(
  maps: Maps,
  { columns, rows }: Grid,
  visit: (between: Between) => void,
  given?: InterpolateKernel,
): void {
  const { data, channels, width } = maps;
  const { size, first, end } = columns;
  if (first === end) return;
  const { channel: channelStride, pixel } = strides(maps);
  const count = end - first;
  // Where the channels lie together, one copy brings a row of all of them.
  const [parts, length] = pixel === 1 ? [channels, width] : [1, width * channels];

  let bytes = 0;
  const reserve = (size: number): number => (bytes += (size + SLACK + 7) & ~7) - ((size + SLACK + 7) & ~7);
  // The last pixel's difference, which counts for nothing, is that to the number after the row.
  const row = reserve((length + channels) * 4);
  const [left, weights, pairs] = [reserve(count * 4), reserve(count * 8), reserve(width * 16)];
  const reserveRow = (): number => reserve(channels * size * 8);
  const [one, other] = [reserveRow(), reserveRow()];
  const target = reserve(Math.max(channels * size * 8, MAX_ROWS * rowStride(size)));
  const down = reserve(rows.size * 8);
  const kernel = given ?? kernelFor(bytes);
  const memory = kernel.memory(bytes);
  const floats = new Float32Array(memory, row, length);
  const doubles = new Float64Array(memory, pairs, width * 2);
  const offsets = new Int32Array(memory, left, count + 2).fill(0);
  for (let i = 0; i < count; i++) offsets[i] = columns.from[first + i]! * 16;
  new Float64Array(memory, weights, count).set(columns.weight.subarray(first, end));
  new Float64Array(memory, down, rows.size).set(rows.weight);
  const last = columns.to[end - 1]!;

  const across = (y: number, to: number): void => {
    for (let part = 0; part < parts; part++) {
      const start = part * channelStride + y * length;
      floats.set(data.subarray(start, start + length));
      for (let channel = part; channel < part + channels / parts; channel++) {
        kernel.pairs(row + (channel - part) * 4, pixel * 4, width, pairs);
        doubles[last * 2 + 1] = 0;
        kernel.across(pairs, left, weights, count, to + (channel * size + first) * 8);
      }
    }
  };
  let above = { y: -1, at: one };
  let below = { y: -1, at: other };
  for (let y = rows.first, count = 1; y < rows.end; y += count) {
    const [from, to] = [rows.from[y]!, rows.to[y]!];
    if (below.y === from) [above, below] = [below, above];
    if (above.y !== from) across((above.y = from), above.at);
    if (below.y !== to) across((below.y = to), below.at);
    for (count = 1; count < MAX_ROWS && y + count < rows.end; count++)
      if (rows.from[y + count] !== from || rows.to[y + count] !== to) break;
    visit({ kernel, above: above.at, below: below.at, y, count, weights: down + y * 8, target });
  }
}

/** Returns the bytes from one row of float32 to the next in a kernel's memory. */
function rowStride(size: number): number {
  return (size * 4 + 15) & ~15;
}

/** Resamples one map to the size of the image, bilinearly. Pixels that a crop removed are 0. */
export function bilinear(map: Maps, grid: Grid, kernel?: InterpolateKernel): OnArrayBuffer<Float32Array> {
  const { size, first, end } = grid.columns;
  const out = new Float32Array(takeReady(size * grid.rows.size * 4));
  const length = end - first;
  if (length < size || grid.rows.first > 0 || grid.rows.end < grid.rows.size) out.fill(0);
  const stride = rowStride(length);
  betweenRows(
    map,
    grid,
    ({ kernel, above, below, y, count, weights, target }) => {
      kernel.downToFloats(above + first * 8, below + first * 8, weights, count, length, target, stride);
      const memory = kernel.memory(0);
      if (length === size && stride === size * 4)
        return out.set(new Float32Array(memory, target, count * size), y * size);
      for (let row = 0; row < count; row++)
        out.set(new Float32Array(memory, target + row * stride, length), (y + row) * size + first);
    },
    kernel,
  );
  return out;
}

/**
 * Resamples a class map to the size of the image: each pixel gets the class of the nearest pixel, as torch's
 * `nearest-exact`. Pixels that a crop removed are 0.
 */
export function nearest<Classes extends Uint8Array | Uint16Array>(
  classes: Classes,
  mapWidth: number,
  { columns, rows }: Grid,
): Classes {
  const out = new (classes.constructor as new (length: number) => Classes)(columns.size * rows.size);
  const column = Int32Array.from(columns.from, (from, x) => (columns.weight[x]! < 0.5 ? from : columns.to[x]!));
  for (let y = rows.first; y < rows.end; y++) {
    const start = (rows.weight[y]! < 0.5 ? rows.from[y]! : rows.to[y]!) * mapWidth;
    const at = y * columns.size;
    for (let x = columns.first; x < columns.end; x++) out[at + x] = classes[start + column[x]!]!;
  }
  return out;
}

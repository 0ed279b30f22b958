import type { OnArrayBuffer } from '../contract/tensors.js';
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
 * lies at `(i + 0.5) * scale + offset - 0.5` in the map's pixels. The axis does not sample pixels of the map that belong to the padding.
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
 * Samples all channels, one row of the image at a time, so that memory holds only the interpolated rows.
 * @param visit receives row `y` as `values[channel * columns.size + x]`, for `x` from `columns.first` to `columns.end`;
 *   the next call overwrites the array
 */
export function eachRow(maps: Maps, { columns, rows }: Grid, visit: (values: Float64Array, y: number) => void): void {
  const length = maps.channels * columns.size;
  let above = { row: -1, values: new Float64Array(length) };
  let below = { row: -1, values: new Float64Array(length) };
  const values = new Float64Array(length);
  for (let y = rows.first; y < rows.end; y++) {
    const [from, to, weight] = [rows.from[y]!, rows.to[y]!, rows.weight[y]!];
    if (below.row === from) [above, below] = [below, above];
    if (above.row !== from) interpolateRow(maps, columns, (above.row = from), above.values);
    if (below.row !== to) interpolateRow(maps, columns, (below.row = to), below.values);
    const [a, b] = [above.values, below.values];
    for (let i = 0; i < length; i++) values[i] = a[i]! + (b[i]! - a[i]!) * weight;
    visit(values, y);
  }
}

/** Interpolates one row of all channels along the columns. */
function interpolateRow(
  maps: Maps,
  { size, from, to, weight, first, end }: Axis,
  row: number,
  out: Float64Array,
): void {
  const { data, channels, width } = maps;
  const stride = strides(maps);
  for (let channel = 0; channel < channels; channel++) {
    const start = channel * stride.channel + row * width * stride.pixel;
    const at = channel * size;
    for (let x = first; x < end; x++) {
      const left = data[start + from[x]! * stride.pixel]!;
      out[at + x] = left + (data[start + to[x]! * stride.pixel]! - left) * weight[x]!;
    }
  }
}

/** Resamples one map to the size of the image, bilinearly. Pixels that a crop removed are 0. */
export function bilinear(map: Maps, grid: Grid): OnArrayBuffer<Float32Array> {
  const { size, first, end } = grid.columns;
  const out = new Float32Array(size * grid.rows.size);
  eachRow(map, grid, (values, y) => out.set(values.subarray(first, end), y * size + first));
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

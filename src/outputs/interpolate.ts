import type { OnArrayBuffer } from '../contract/tensors.js';
import { strides, type Maps } from './maps.js';

/** One axis of a resampling: between which two of a map's pixels each pixel of the image lies, and how far from the first to the second, in 0..1. */
export interface Axis {
  readonly size: number;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly weight: Float64Array;
  /** Pixels `first` up to `end`, exclusive, have their center in the map. The others were cropped away. */
  readonly first: number;
  readonly end: number;
}

export interface Grid {
  readonly columns: Axis;
  readonly rows: Axis;
}

/** Sizes and positions are exact but for the rounding of float64. */
const ROUNDING = 1e-6;

/**
 * Bilinear sampling with half-pixel centers, `torch.nn.functional.interpolate(…, mode='bilinear', align_corners=False, antialias=False)`:
 * the center of pixel `i` lies at `(i + 0.5) * scale + offset - 0.5` in the map's pixels. What is not of the image (padding) is not sampled.
 * @param size of the image, in pixels
 * @param mapSize of the map
 * @param scale and `offset`: a point `x` of the image lies at `x * scale + offset` in the map, outer corners at 0
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
 * Samples all channels, row by row: one row of the image at a time is in memory, whatever the number of channels.
 * @param visit gets row `y` as `values[channel * columns.size + x]`, for `x` from `columns.first` to `columns.end`; the array is used again for the next row
 */
export function eachRow(maps: Maps, { columns, rows }: Grid, visit: (values: Float64Array, y: number) => void): void {
  const length = maps.channels * columns.size;
  let above = { row: -1, values: new Float64Array(length) };
  let below = { row: -1, values: new Float64Array(length) };
  const values = new Float64Array(length);
  for (let y = rows.first; y < rows.end; y++) {
    const [from, to, weight] = [rows.from[y]!, rows.to[y]!, rows.weight[y]!];
    if (below.row === from) [above, below] = [below, above];
    if (above.row !== from) stretch(maps, columns, (above.row = from), above.values);
    if (below.row !== to) stretch(maps, columns, (below.row = to), below.values);
    const [a, b] = [above.values, below.values];
    for (let i = 0; i < length; i++) values[i] = a[i]! + (b[i]! - a[i]!) * weight;
    visit(values, y);
  }
}

function stretch(maps: Maps, { size, from, to, weight, first, end }: Axis, row: number, out: Float64Array): void {
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

/** One map at the size of the image, bilinear; 0 where the image was cropped away. */
export function bilinear(map: Maps, grid: Grid): OnArrayBuffer<Float32Array> {
  const { size, first, end } = grid.columns;
  const out = new Float32Array(size * grid.rows.size);
  eachRow(map, grid, (values, y) => out.set(values.subarray(first, end), y * size + first));
  return out;
}

/** A map of classes at the size of the image: that of the nearest pixel, torch's `nearest-exact`; 0 where the image was cropped away. */
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

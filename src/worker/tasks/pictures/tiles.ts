import { TabServeError } from '../../../contract/errors.js';
import type { MapLayout } from '../../outputs/maps.js';

/** One tile along one axis of an image, in pixels. */
export interface TileSpan {
  /** The first pixel that the model gets. */
  readonly start: number;
  /** The pixels of the result that come from this tile: `from` to `to`, exclusive. */
  readonly from: number;
  readonly to: number;
}

/**
 * Pixels of a tensor for one image. `planes` lists of rows follow each other; each pixel has `unit` numbers in each.
 */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly planes: number;
  readonly unit: number;
  readonly data: Numbers;
}

/** Any numeric typed array with numbers that are copied as they are: float16 is copied as its bits. */
export type Numbers = Float32Array | Uint16Array | Uint8Array | Int32Array;

/** Returns the pixels of a row. @throws `model-config` if its dims are not those of an image */
export function rasterOf(dims: readonly number[], data: Numbers, layout: MapLayout): Raster {
  const [a, b, c] = dims as readonly [number, number, number];
  if (dims.length === 3)
    return layout === 'NCHW'
      ? { planes: a, height: b, width: c, unit: 1, data }
      : { planes: 1, height: a, width: b, unit: c, data };
  throw new TabServeError(
    'model-config',
    `handler.outputName: an image-to-image handler needs channels, height and width for each image, but the output of one image has the dims [${dims.join(', ')}]. Name another output.`,
  );
}

/** Returns the dims of a raster as a batch of one. */
export function dimsOf({ planes, height, width, unit }: Raster, layout: MapLayout): number[] {
  return layout === 'NCHW' ? [1, planes, height, width] : [1, height, width, unit];
}

/**
 * Divides one axis into tiles of equal size. Each tile but the first starts `overlap` pixels or more before the pixels
 * that it contributes, and each but the last ends as much after them, so a model that looks at most `overlap` pixels
 * far computes them as it does from the whole image. The last tile ends with the axis. An axis that is not longer than
 * a tile has one tile.
 * @param length the length of the axis, in pixels
 * @param tile the size of a tile, in pixels; more than twice `overlap`
 */
export function divide(length: number, tile: number, overlap: number): TileSpan[] {
  if (length <= tile) return [{ start: 0, from: 0, to: length }];
  const spans: TileSpan[] = [];
  for (let from = 0; from < length;) {
    const start = Math.min(Math.max(0, from - overlap), length - tile);
    const to = start + tile === length ? length : start + tile - overlap;
    spans.push({ start, from, to });
    from = to;
  }
  return spans;
}

/**
 * Returns the pixels from `(x, y)` on, `width` × `height`. Beyond the right and the bottom edge the last pixel repeats.
 */
export function cut(source: Raster, x: number, y: number, width: number, height: number): Raster {
  const { planes, unit } = source;
  const data = sameType(source.data, planes * unit * width * height);
  const inside = Math.min(width, source.width - x) * unit;
  for (let plane = 0; plane < planes; plane++)
    for (let row = 0; row < height; row++) {
      const line = plane * source.height + Math.min(y + row, source.height - 1);
      const start = (line * source.width + x) * unit;
      const target = (plane * height + row) * width * unit;
      data.set(source.data.subarray(start, start + inside), target);
      for (let at = inside; at < width * unit; at++) data[target + at] = data[target + at - unit]!;
    }
  return { width, height, planes, unit, data };
}

/** Copies the pixels of `part` from `(left, top)` on, `width` × `height`, to `target` at `(x, y)`. */
export function paste(
  target: Raster,
  part: Raster,
  { x, y, left, top, width, height }: Readonly<Record<'x' | 'y' | 'left' | 'top' | 'width' | 'height', number>>,
): void {
  const { planes, unit } = target;
  for (let plane = 0; plane < planes; plane++)
    for (let row = 0; row < height; row++) {
      const start = ((plane * part.height + top + row) * part.width + left) * unit;
      target.data.set(
        part.data.subarray(start, start + width * unit),
        ((plane * target.height + y + row) * target.width + x) * unit,
      );
    }
}

/** Returns an array of the same class. */
export function sameType<Data extends Numbers>(data: Data, length: number): Data {
  return new (data.constructor as new (length: number) => Data)(length);
}

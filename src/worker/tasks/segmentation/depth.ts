import type { OnArrayBuffer } from '../../../contract/tensors.js';
import { bicubic, type Line, type NumberMap } from './bicubic.js';
import { transferResult } from '../../outputs/transfer.js';

/** How far each pixel of a photo is; `paintDepth` of `tabserve` makes it an image for a canvas. */
export interface DepthMap {
  readonly width: number;
  readonly height: number;
  /**
   * What the model predicts for each pixel, row-major. Whether that is a distance, and in which unit, or the inverse of
   * one, where larger is nearer, depends on the model: of ZoeDepth and GLPN it is meters.
   */
  readonly depth: OnArrayBuffer<Float32Array>;
  /** The least of these numbers. */
  readonly min: number;
  /** The largest of these numbers. */
  readonly max: number;
}

/** Returns a map in the size of a photo, and transfers its buffer to the page. */
export function depthMap(map: NumberMap, columns: Line, rows: Line): DepthMap {
  const depth = bicubic(map, columns, rows);
  let min = Infinity;
  let max = -Infinity;
  for (const value of depth) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return transferResult({ width: columns.size, height: rows.size, depth, min, max }, [depth.buffer]);
}

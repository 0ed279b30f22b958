import type { OnArrayBuffer } from '../../../contract/tensors.js';
import { interpolate, type Line, type NumberMap } from './interpolate.js';
import { transferResult } from '../../outputs/transfer.js';

/** How far each pixel of a photo is; `paintDepth` of `tabserve` makes it an image for a canvas. */
export interface DepthMap {
  readonly width: number;
  readonly height: number;
  /**
   * What the model predicts for each pixel, row-major. Whether that is a distance, and in which unit, or the inverse of
   * one, where larger is nearer, depends on the model: of ZoeDepth, GLPN and DepthPro it is meters.
   */
  readonly depth: OnArrayBuffer<Float32Array>;
  /** The least of these numbers. */
  readonly min: number;
  /** The largest of these numbers. */
  readonly max: number;
}

/** The least and the largest inverse of a distance. */
const INVERSE = { least: 1e-4, most: 1e4 } as const;

/**
 * Returns a map in the size of a photo, and transfers its buffer to the page.
 * @param view the degrees that the photo shows across, of a model that predicts the inverse of a distance for a camera
 *   of another view: `post_process_depth_estimation` of transformers' DepthProImageProcessor
 */
export function depthMap(map: NumberMap, columns: Line, rows: Line, view?: number): DepthMap {
  const depth = interpolate(map, columns, rows, view === undefined ? 'bicubic' : 'bilinear');
  if (view !== undefined) {
    const scale = 2 * Math.tan((view * Math.PI) / 360);
    for (let at = 0; at < depth.length; at++)
      depth[at] = 1 / Math.min(Math.max(depth[at]! * scale, INVERSE.least), INVERSE.most);
  }
  let min = Infinity;
  let max = -Infinity;
  for (const value of depth) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return transferResult({ width: columns.size, height: rows.size, depth, min, max }, [depth.buffer]);
}

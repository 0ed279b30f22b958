/** The masks of models that segment what points and boxes show: Segment Anything. */
import { axis, bilinear, eachRow, type Grid } from '../../outputs/interpolate.js';
import type { Maps } from '../../outputs/maps.js';
import { runMask } from '../../outputs/runs.js';

/**
 * Returns the pixels of a photo whose logit is above a threshold, with the smallest box around them; undefined if there
 * are none.
 * @see https://github.com/huggingface/transformers/blob/main/src/transformers/models/sam/image_processing_sam.py
 *   `post_process_masks`
 * @param map a map of logits
 * @param between the size that the map is interpolated to, before the photo's; undefined for none
 * @param grid samples a map of the size `between`, or of `map`, at the photo's pixels
 */
export function promptedMask(
  map: Maps,
  between: { readonly width: number; readonly height: number } | undefined,
  grid: Grid,
  threshold: number,
): ReturnType<typeof runMask> {
  const logits: Maps = between
    ? {
        ...map,
        ...between,
        data: bilinear(map, { columns: axis(between.width, map.width), rows: axis(between.height, map.height) }),
      }
    : map;
  const { columns, rows } = grid;
  const inside = new Uint8Array(columns.size * rows.size);
  eachRow(logits, grid, (values, y) => {
    for (let x = columns.first; x < columns.end; x++) if (values[x]! > threshold) inside[y * columns.size + x] = 1;
  });
  return runMask(columns.size, rows.size, (index) => inside[index] === 1);
}

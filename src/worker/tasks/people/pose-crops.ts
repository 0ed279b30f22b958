/** The forms of models that find the points of one person in a crop, as mmpose and ViTPose cut it out. */
import type { Region } from '../../../contract/images.js';
import type { ModelFacts } from '../../outputs/boxes/decoder.js';
import type { Box } from '../../outputs/boxes/detection.js';
import { darkPoint } from './dark.js';
import { toPhoto } from './region.js';
import { simccPoint } from './simcc.js';
import { checkScores, inUnit } from '../../outputs/scores.js';
import type { PersonForm } from './pose-form.js';
import { poseMisfit } from './pose-misfit.js';

type Size = { readonly columns: number; readonly rows: number };

/** How much larger than the person's box the crop is. */
const PADDING = 1.25;

/** Returns the upright region around a box that has the shape of the crop. */
function paddedRegion({ xmin, ymin, xmax, ymax }: Box, { columns, rows }: Size): Region {
  const shape = columns / rows;
  const [width, height] = [xmax - xmin, ymax - ymin];
  const wide = Math.max(width, height * shape) * PADDING;
  return { x: (xmin + xmax) / 2, y: (ymin + ymax) / 2, width: wide, height: wide / shape, angle: 0 };
}

/**
 * Creates the form of SimCC, such as RTMPose: `simcc_x` `[rows, points, bins]` and `simcc_y`, whose bins divide the sides
 * of the crop.
 * @param size of the crop, in pixels
 */
export function simccForm({ outputs }: ModelFacts, size: Size): PersonForm {
  const named = ['simcc_x', 'simcc_y'].map((name) => outputs.find((output) => output.name === name));
  const [x, y] = named.every((one) => one !== undefined) ? named : outputs;
  const expected = 'simcc_x [rows, points, columns · split] and simcc_y [rows, points, rows · split]';
  if (!x || !y || x.dims.length !== 3 || y.dims.length !== 3) throw poseMisfit('simcc', expected, outputs);
  return {
    sees: 'person',
    outputs: [x.name, y.name],
    border: 'zero',
    regionOf: (box) => paddedRegion(box, size),
    read([xs, ys], region) {
      const [count, across] = xs!.dims as readonly [number, number];
      const down = ys!.dims[1]!;
      const isEmpty = count === 0 || across === 0;
      if (isEmpty || ys!.dims[0] !== count || across % size.columns !== 0 || across * size.rows !== down * size.columns)
        throw poseMisfit('simcc', expected, [
          { name: x.name, dims: ['rows', ...xs!.dims] },
          { name: y.name, dims: ['rows', ...ys!.dims] },
        ]);
      for (const { data } of [xs!, ys!]) checkScores(data, 'logits', false);
      return Array.from({ length: count }, (_, at) => {
        const inCrop = simccPoint(
          xs!.data.subarray(at * across, (at + 1) * across),
          ys!.data.subarray(at * down, (at + 1) * down),
        );
        return pointOf(inCrop, region);
      });
    },
  };
}

/**
 * Creates the form of heat maps, `[rows, points, height, width]`, by transformers' `VitPoseImageProcessor`: the centers
 * of the first and the last pixel of the crop lie on the edges of the padded box, and so do those of the map.
 * @param size of the crop, in pixels
 */
export function heatMapForm({ output }: ModelFacts, size: Size): PersonForm {
  const expected = '[rows, points, height, width]';
  if (output.dims.length !== 4) throw poseMisfit('heatmaps', expected, [output]);
  const { columns, rows } = size;
  return {
    sees: 'person',
    outputs: [output.name],
    border: 'cut',
    regionOf(box) {
      const { x, y, width, height, angle } = paddedRegion(box, size);
      const [wide, high] = [(width * columns) / (columns - 1), (height * rows) / (rows - 1)];
      return { x: x + (wide - width) / 2, y: y + (high - height) / 2, width: wide, height: high, angle };
    },
    read([maps], region) {
      const [count, height, width] = maps!.dims as readonly [number, number, number];
      // A map of one cell shows no position.
      if (count === 0 || height < 2 || width < 2)
        throw poseMisfit('heatmaps', expected, [{ name: output.name, dims: ['rows', ...maps!.dims] }]);
      checkScores(maps!.data, 'logits', false);
      return Array.from({ length: count }, (_, at) => {
        const { x, y, score } = darkPoint(
          maps!.data.subarray(at * width * height, (at + 1) * width * height),
          width,
          height,
        );
        // The last cell is the last pixel.
        const inCrop = { x: (x / (width - 1)) * (1 - 1 / columns), y: (y / (height - 1)) * (1 - 1 / rows), score };
        return pointOf(inCrop, region);
      });
    },
  };
}

/** Converts a point in fractions of a crop to a point of the photo. */
function pointOf(
  { x, y, score }: ReturnType<typeof simccPoint>,
  region: Region,
): { readonly x: number; readonly y: number; readonly score: number } {
  const { x: right, y: down } = toPhoto({ x, y, z: 0 }, region);
  return { x: right, y: down, score: inUnit(score) };
}

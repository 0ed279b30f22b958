/** The forms of models that find boxes, and the mask of each. */
import { viewColumns } from '../../outputs/boxes/columns.js';
import type { MaybePromise } from '../../../contract/handler.js';
import type { ModelFacts, Size } from '../../outputs/boxes/decoder.js';
import type { Box } from '../../outputs/boxes/detection.js';
import { createDecoder } from '../../outputs/boxes/formats.js';
import type { Proposals } from '../../outputs/boxes/proposals.js';
import { mapMask, pastedMask, prototypeMask } from './instance-masks.js';
import type { Segment } from './queries.js';
import type { BoxedMask } from '../../outputs/runs.js';
import { checkScores } from '../../outputs/scores.js';
import { boxesInImage } from '../../handlers/image-boxes.js';
import { mapsOf, misfit, type InstanceForm, type RowParam } from './instance-form.js';
import { gridOf, type Placement } from '../../handlers/placements.js';

/** TorchServe's confidence threshold, as for an object detector. */
const SCORE_THRESHOLD = 0.5;

const OF_QUERIES = ['overlapThreshold', 'maskSide', 'subtask'];

/**
 * Creates the form of torchvision's Mask R-CNN: detections with a map of probabilities each, over their box or over the
 * tensor.
 * @throws `model-config` if the outputs are not there
 */
export async function maskForm(model: ModelFacts): Promise<InstanceForm> {
  const expected = 'boxes [boxes, 4], labels [boxes], scores [boxes] and masks [boxes, 1, height, width]';
  const maps = model.outputs.filter(({ dims }) => dims.length === 4);
  const masks = maps.find(({ name }) => name === 'masks') ?? (maps.length === 1 ? maps[0] : undefined);
  if (!masks) throw misfit('torchvision', expected, model.outputs);
  const others = model.outputs.filter((output) => output !== masks);
  const decoder = await createDecoder('torchvision', { ...model, outputs: others });
  if (decoder.isBatched) throw misfit('torchvision', expected, model.outputs);
  return {
    defaults: { scoreThreshold: SCORE_THRESHOLD, iouThreshold: decoder.iouThreshold },
    unused: OF_QUERIES,
    outputs: [...decoder.outputs, masks.name],
    isBatched: false,
    classes: undefined,
    async segments(views, placement, param, pause) {
      const [count, one, height = 0, width = 0] = views.at(-1)!.dims;
      const { data } = views.at(-1)!;
      if (one !== 1 || count !== views[0]!.dims[0])
        throw misfit('torchvision', expected, [{ name: masks.name, dims: views.at(-1)!.dims }]);
      const isOfPhoto = width === placement.tensorWidth && height === placement.tensorHeight;
      const grid = gridOf({ width, height }, placement);
      const proposals = decoder.decode(views.slice(0, -1), sizeOf(placement));
      return await masked(proposals, placement, param, pause, (proposal, box) => {
        const map = { data: data.subarray(proposal * width * height, (proposal + 1) * width * height), width, height };
        checkScores(map.data, 'probabilities', false);
        const threshold = param('maskThreshold');
        return isOfPhoto ? mapMask(map, grid, threshold) : pastedMask(map, box, placement, threshold);
      });
    },
  };
}

/**
 * Creates the form of YOLO's segmentation, in which a sum of prototypes is the mask: each detection has a coefficient
 * for each of them, after the columns that a decoder of boxes reads.
 * @throws `model-config` if the outputs are not there
 */
export async function prototypeForm(name: 'yolov8' | 'yolov5' | 'rows', model: ModelFacts): Promise<InstanceForm> {
  const isColumnsFirst = name === 'yolov8';
  const columns = { yolov8: '4 + classes', yolov5: '5 + classes', rows: '6' }[name];
  const sides = isColumnsFirst ? `${columns} + prototypes, boxes` : `boxes, ${columns} + prototypes`;
  const expected = `a table [batch, ${sides}] and [batch, prototypes, height, width]`;
  const { output } = model;
  const maps = model.outputs.filter(({ dims }) => dims.length === 4);
  const count = maps[0]?.dims[1];
  const axis = isColumnsFirst ? 1 : 2;
  const width = output.dims[axis];
  const isRight = maps.length === 1 && output.dims.length === 3 && typeof count === 'number';
  if (!isRight || (typeof width === 'number' && width <= count)) throw misfit(name, expected, model.outputs);
  const own = typeof width === 'number' ? width - count : undefined;
  const decoder = await createDecoder(name, {
    ...model,
    output: { ...output, dims: output.dims.with(axis, own ?? width!) },
    // yolov8 tells by it which axis has the columns; the handler compares it with the labels.
    labels: isColumnsFirst && own !== undefined ? own - 4 : model.labels,
  });
  return {
    defaults: { scoreThreshold: SCORE_THRESHOLD, iouThreshold: decoder.iouThreshold },
    unused: OF_QUERIES,
    outputs: [output.name, maps[0]!.name],
    isBatched: true,
    classes: decoder.classes,
    async segments([table, map], placement, param, pause) {
      const [rows, own] = isColumnsFirst
        ? [table!.dims[1]!, table!.dims[0]! - count]
        : [table!.dims[0]!, table!.dims[1]! - count];
      if (map!.dims[0] !== count || !(own > 0)) throw misfit(name, expected, model.outputs);
      checkScores(map!.data, 'logits', false);
      const maps = mapsOf(map!);
      const grid = gridOf(maps, placement);
      const { head, coefficients } = isColumnsFirst
        ? {
            head: viewColumns(table!, 0, own),
            coefficients: (box: number) =>
              Float32Array.from({ length: count }, (_, at) => table!.data[(own + at) * rows + box]!),
          }
        : {
            head: viewColumns(table!, 1, own),
            coefficients: (box: number) =>
              table!.data.subarray((box + 1) * (own + count) - count, (box + 1) * (own + count)),
          };
      const proposals = decoder.decode([head], sizeOf(placement));
      return await masked(proposals, placement, param, pause, (proposal, box) => {
        const values = coefficients(proposal);
        checkScores(values, 'logits', false);
        return prototypeMask(values, maps, grid, box, param('maskThreshold'));
      });
    },
  };
}

/**
 * Returns the proposals above the threshold, with their masks, without those whose mask is empty.
 * @param maskOf of a proposal, and its box in pixels of the photo
 */
async function masked(
  proposals: Proposals,
  placement: Placement,
  param: RowParam,
  pause: () => MaybePromise<void>,
  maskOf: (proposal: number, box: Box) => BoxedMask | undefined,
): Promise<readonly Segment[]> {
  const found = boxesInImage(proposals, placement, {
    score: param('scoreThreshold'),
    iou: param('iouThreshold'),
    count: param('maxDetections'),
  });
  const segments: Segment[] = [];
  for (const { classIndex, score, proposal, box } of found) {
    await pause();
    const mask = maskOf(proposal, box)?.mask;
    if (mask) segments.push({ classIndex, score, box, mask });
  }
  return segments;
}

function sizeOf({ tensorWidth: width, tensorHeight: height }: Placement): Size {
  return { width, height };
}

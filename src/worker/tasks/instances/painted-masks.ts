/** The segments of RF-DETR, which has a probability for each pair of a query and a class, and a mask for each query. */
import type { MaybePromise } from '../../../contract/handler.js';
import type { OutputInfo } from '../../../contract/tensors.js';
import { TabServeError } from '../../../contract/errors.js';
import type { ModelFacts } from '../../outputs/boxes/decoder.js';
import { checkFloats } from '../../outputs/floats.js';
import type { Grid } from '../../outputs/interpolate.js';
import { eachRowWithPauses } from '../../outputs/interpolate-with-pauses.js';
import type { Maps } from '../../outputs/maps.js';
import { runMask } from '../../outputs/runs.js';
import { checkScores, logistic } from '../../outputs/scores.js';
import { gridOf } from '../../handlers/placements.js';
import { mapsOf, misfit, type InstanceForm } from './instance-form.js';
import type { Segment, SegmentThresholds } from './queries.js';

/** The names that exporters give the outputs: of classes, and of masks. */
const OUTPUTS = ['logits', 'pred_masks'] as const;

/** Stands for pixels of no segment. */
const NONE = 0xffff;

/**
 * Creates the form of RF-DETR.
 * @throws `model-config` if the outputs are not there
 */
export function paintedForm({ outputs }: Pick<ModelFacts, 'outputs'>): InstanceForm {
  const named = (name: string): OutputInfo | undefined => outputs.find((output) => output.name === name);
  if (!OUTPUTS.every(named)) throw misfit('rf-detr', OUTPUTS.join(' and '), outputs);
  checkFloats(OUTPUTS, outputs);
  const classes = named(OUTPUTS[0])!.dims[2];
  return {
    outputs: OUTPUTS,
    isBatched: true,
    classes: typeof classes === 'number' ? classes : undefined,
    defaults: { scoreThreshold: 0.5 },
    unused: ['iouThreshold', 'maxDetections', 'overlapThreshold', 'subtask', 'maskSide'],
    async segments([classes, masks], placement, param, pause) {
      if (classes!.dims.length !== 2 || masks!.dims.length !== 3 || classes!.dims[0] !== masks!.dims[0])
        throw new TabServeError(
          'inference-failed',
          `For a photo, the outputs ${OUTPUTS.join(' and ')} have the dims [${classes!.dims.join(', ')}] and [${masks!.dims.join(', ')}]; they must be [queries, classes] and [queries, height, width].`,
        );
      checkScores(classes!.data, 'logits', false);
      checkScores(masks!.data, 'logits', false);
      const maps = mapsOf(masks!);
      const thresholds = { score: param('scoreThreshold'), mask: param('maskThreshold') };
      return await paintedSegments(classes!.data, maps, gridOf(maps, placement), thresholds, pause);
    },
  };
}

/**
 * Returns the segments of a photo, best first. Each pixel belongs to the best pair whose mask has it.
 * @see https://github.com/huggingface/transformers/blob/main/src/transformers/models/rf_detr/image_processing_rf_detr.py
 *   `post_process_instance_segmentation`
 * @param logits `[queries, classes]`
 * @param masks a map of logits for each query
 * @param grid samples maps of that size at the photo's pixels
 * @param pause is called every few tenths of a second; what it throws ends the work
 */
async function paintedSegments(
  logits: Float32Array,
  masks: Maps,
  grid: Grid,
  thresholds: Pick<SegmentThresholds, 'score' | 'mask'>,
  pause: () => MaybePromise<void>,
): Promise<readonly Segment[]> {
  const { channels: count, width, height } = masks;
  const classes = logits.length / count;
  const chosen = Array.from(logits, (logit, at) => ({ at, score: logistic(logit) }))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, count)
    .filter(({ score }) => score > thresholds.score)
    .map(({ at, score }) => ({ query: Math.floor(at / classes), classIndex: at % classes, score }));
  if (chosen.length === 0) return [];

  const size = width * height;
  const data = new Float32Array(chosen.length * size);
  for (const [at, { query }] of chosen.entries())
    data.set(masks.data.subarray(query * size, (query + 1) * size), at * size);

  const [columns, rows] = [grid.columns.size, grid.rows.size];
  const owners = new Uint16Array(columns * rows).fill(NONE);
  const limit = Math.log(thresholds.mask / (1 - thresholds.mask));
  const visit = (values: Float64Array, y: number): void => {
    for (let x = grid.columns.first; x < grid.columns.end; x++)
      for (let at = 0; at < chosen.length; at++)
        if (values[at * columns + x]! > limit) {
          owners[y * columns + x] = at;
          break;
        }
  };
  await eachRowWithPauses({ ...masks, channels: chosen.length, data, layout: 'NCHW' }, grid, visit, pause);
  const segments: Segment[] = [];
  for (const [at, { classIndex, score }] of chosen.entries()) {
    await pause();
    const found = runMask(columns, rows, (index) => owners[index] === at);
    if (found) segments.push({ classIndex, score, ...found });
  }
  return segments;
}

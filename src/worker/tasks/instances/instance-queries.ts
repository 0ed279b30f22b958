import { TabServeError } from '../../../contract/errors.js';
import type { OutputInfo } from '../../../contract/tensors.js';
import type { ModelFacts } from '../../outputs/boxes/decoder.js';
import { segmentsOf, type Subtask } from './queries.js';
import { checkFloats } from '../../outputs/floats.js';
import { checkScores } from '../../outputs/scores.js';
import { mapsOf, misfit, type InstanceForm } from './instance-form.js';
import { gridOf } from '../../handlers/placements.js';

/** The names that exporters give the outputs: of classes, and of masks. */
export const QUERY_OUTPUTS = [
  ['class_queries_logits', 'masks_queries_logits'],
  ['logits', 'pred_masks'],
] as const;

/** Returns the names of the outputs of classes and masks; undefined if the model has none. */
export function queryOutputs(outputs: readonly OutputInfo[]): readonly [classes: string, masks: string] | undefined {
  return QUERY_OUTPUTS.find((pair) => pair.every((name) => outputs.some((output) => output.name === name)));
}

/**
 * Creates the form of models that have a class and a mask for each of their queries: MaskFormer, Mask2Former,
 * OneFormer, DETR.
 * @param side the side of the square that the masks are interpolated to; undefined for their own size
 * @param hasSubtasks whether an input tells the model what to segment
 * @throws `model-config` if the outputs are not there
 */
export function queryForm({ outputs }: ModelFacts, side: number | undefined, hasSubtasks: boolean): InstanceForm {
  const names = queryOutputs(outputs);
  if (!names) throw misfit('queries', QUERY_OUTPUTS.map((pair) => pair.join(' and ')).join(', or '), outputs);
  checkFloats(names, outputs);
  const classes = outputs.find((output) => output.name === names[0])!.dims[2];
  return {
    outputs: names,
    isBatched: true,
    classes: typeof classes === 'number' ? classes - 1 : undefined,
    note: ' (besides the last one, which is no object)',
    defaults: { scoreThreshold: 0.9 },
    unused: ['iouThreshold', 'maxDetections', ...(hasSubtasks ? [] : ['subtask'])],
    async segments([classes, masks], placement, param, pause) {
      if (classes!.dims.length !== 2 || masks!.dims.length !== 3 || classes!.dims[0] !== masks!.dims[0])
        throw new TabServeError(
          'inference-failed',
          `For a photo, the outputs ${names.join(' and ')} have the dims [${classes!.dims.join(', ')}] and [${masks!.dims.join(', ')}]; they must be [queries, classes + 1] and [queries, height, width].`,
        );
      checkScores(classes!.data, 'logits', false);
      checkScores(masks!.data, 'logits', false);
      const maps = mapsOf(masks!);
      return await segmentsOf(
        { classes: classes!.data, masks: maps, side },
        gridOf(side === undefined ? maps : { width: side, height: side }, placement),
        { score: param('scoreThreshold'), mask: param('maskThreshold'), overlap: param('overlapThreshold') },
        hasSubtasks ? param<Subtask>('subtask') : 'panoptic',
        pause,
      );
    },
  };
}

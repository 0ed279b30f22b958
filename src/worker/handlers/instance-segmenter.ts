import type { Context } from '../../contract/handler.js';
import type { HuggingFaceTask } from '../../contract/hugging-face-task.js';
import { TabServeError } from '../../contract/errors.js';
import type { OutputInfo, Tensor, Tensors } from '../../contract/tensors.js';
import type { Box } from '../outputs/detection/detection.js';
import { checkLabels, labelOf } from '../outputs/labels.js';
import { segmentsOf } from '../outputs/queries.js';
import { checkRows, numbersOf } from '../outputs/rows.js';
import type { RunMask } from '../outputs/runs.js';
import { checkScores } from '../outputs/scores.js';
import { transferResult } from '../outputs/transfer.js';
import { architectureOf } from '../../shared/hugging-face.js';
import type { ConfigSchema } from '../../shared/schema.js';
import { slice, toFloats } from '../tensors/tensors.js';
import { compose, normalize, resize, toTensor } from '../transforms/index.js';
import { gridOf } from './placements.js';
import { VisionHandler } from './vision-handler.js';
import type { VisionParams } from './vision-params.js';

/** The `params` of an instance segmenter. */
export interface InstanceSegmenterParams extends VisionParams {
  /** Segments whose class has a probability of at most this are dropped. */
  readonly scoreThreshold?: number;
  /** The probability from which a pixel is in a segment's own mask. */
  readonly maskThreshold?: number;
  /** Segments of which others cover all but this part are dropped. */
  readonly overlapThreshold?: number;
}

/** One object or region of a photo. */
export interface Instance {
  readonly label: string;
  /** The probability of the label, in 0..1. */
  readonly score: number;
  /** The smallest box around the mask, in pixels of the upright photo. */
  readonly box: Box;
  /** Its pixels in the upright photo. */
  readonly mask: RunMask;
}

/** The names that exporters give the outputs: of classes, and of masks. */
const OUTPUTS = [
  ['class_queries_logits', 'masks_queries_logits'],
  ['logits', 'pred_masks'],
] as const;

/**
 * Finds the objects and regions of a photo, each with its pixels, as transformers' pipeline `image-segmentation` does for
 * models that have a mask for each of their queries. The model's outputs are `class_queries_logits` `[rows, queries,
 * classes + 1]` and `masks_queries_logits` `[rows, queries, height, width]`, or DETR's `logits` and `pred_masks`. The
 * default transforms are ImageNet's, for a square.
 * @answer `[{ label, score, box: { xmin, ymin, xmax, ymax }, mask: { width, height, runs } }, …]`, best first; box and mask
 *   in pixels of the image; `paintInstances` makes them an `ImageData`
 */
export class InstanceSegmenter extends VisionHandler<readonly Instance[]> {
  declare readonly paramsType?: InstanceSegmenterParams;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForUniversalSegmentation', 'ForInstanceSegmentation', 'DetrForSegmentation'],
    processor: 'image',
    handlerConfig: (config, own) =>
      own['maskSide'] === undefined && architectureOf(config)?.startsWith('Mask2Former') ? { maskSide: 384 } : {},
  };

  static override readonly schema: ConfigSchema = {
    scoreThreshold: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'Segments whose class has a probability of at most this are dropped.',
      default: 0.9,
    },
    maskThreshold: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: "The probability from which a pixel is in a segment's own mask.",
      default: 0.5,
    },
    overlapThreshold: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'Segments of which others cover all but this part are dropped.',
      default: 0.5,
    },
    maskSide: {
      type: 'integer',
      minimum: 1,
      readOnly: true,
      description:
        "The side of the square that the model's masks are interpolated to before their sigmoid is taken; 384 for Mask2Former. Default: their own size.",
    },
  };

  override imageProcessing = compose(
    resize([800, 800]),
    toTensor(),
    normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
  );

  /** The names of the outputs. */
  #outputs!: readonly [classes: string, masks: string];

  /**
   * Opens the model and finds its outputs.
   * @throws `model-config` if they are not there, or if the labels do not fit the classes
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const { outputs } = this.model;
    const find = (name: string): OutputInfo | undefined => outputs.find((output) => output.name === name);
    const names = OUTPUTS.find((pair) => pair.every(find));
    if (!names)
      throw new TabServeError(
        'model-config',
        `An instance segmenter needs the outputs ${OUTPUTS.map((pair) => pair.join(' and ')).join(', or ')}, but the model has ${outputs.map(({ name }) => name).join(', ')}. Export the model for the task image-segmentation, or use image_segmenter.`,
      );
    this.#outputs = names;
    const classes = find(names[0])!.dims[2];
    if (typeof classes === 'number')
      checkLabels(this.mapping, classes - 1, ' (besides the last one, which is no object)');
  }

  /** Converts the model's outputs to the segments of each row, and transfers their buffers to the page. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => readonly Instance[] {
    const [classes, masks] = this.#outputs.map((name) => {
      const output = numbersOf(outputs, name);
      checkRows(name, output, context.systemProperties.batchSize);
      return output;
    }) as [Tensor, Tensor];
    if (classes.dims.length !== 3 || masks.dims.length !== 4 || classes.dims[1] !== masks.dims[1])
      throw new TabServeError(
        'inference-failed',
        `The outputs ${this.#outputs.join(' and ')} have the dims [${classes.dims.join(', ')}] and [${masks.dims.join(', ')}]; they must be [rows, queries, classes + 1] and [rows, queries, height, width].`,
      );
    const [, channels, height, width] = masks.dims as [number, number, number, number];
    return (index) => {
      const [scores, data] = [classes, masks].map((tensor) => toFloats(slice(tensor, index, index + 1))) as [
        Float32Array,
        Float32Array,
      ];
      checkScores(scores, 'logits', false);
      checkScores(data, 'logits', false);
      const side = this.config['maskSide'] as number | undefined;
      const size = side === undefined ? { width, height } : { width: side, height: side };
      const number = (name: string): number => this.param(name, index, context);
      const segments = segmentsOf(
        { classes: scores, masks: { data, channels, width, height, layout: 'NCHW' }, side },
        gridOf(size, this.requirePlacement(index, context)),
        { score: number('scoreThreshold'), mask: number('maskThreshold'), overlap: number('overlapThreshold') },
      );
      return transferResult(
        segments.map(({ classIndex, score, box, mask }) => ({
          label: labelOf(this.mapping, classIndex),
          score,
          box,
          mask,
        })),
        segments.map(({ mask }) => mask.runs.buffer),
      );
    };
  }

  protected override emptyResult: readonly Instance[] = [];
}

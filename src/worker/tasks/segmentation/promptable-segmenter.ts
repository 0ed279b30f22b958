import { asTabServeError, type PredictionError, TabServeError } from '../../../contract/errors.js';
import type { Context, InputKind } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Session, Tensor, Tensors } from '../../../contract/tensors.js';
import type { Box } from '../../outputs/boxes/detection.js';
import { promptedMask } from './prompted-masks.js';
import { numbersOf } from '../../outputs/rows.js';
import type { RunMask } from '../../outputs/runs.js';
import { checkScores } from '../../outputs/scores.js';
import { transferResult } from '../../outputs/transfer.js';
import { pause } from '../../../shared/next-task.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { toFloats } from '../../tensors/tensors.js';
import { EncodedImages, ImageEncoder, type EncodedImage } from './image-encoder.js';
import { gridOf } from '../../handlers/placements.js';
import { findForm, joinObjects, type PromptForm } from './prompt-form.js';
import { placePrompts, readPrompts, type PromptedImage } from './prompts.js';
import { zeros } from '../../handlers/run-model.js';
import type { StateConfig } from '../../handlers/state-config.js';
import type { VisionConfig } from '../../handlers/vision-params.js';
import { WorkflowHandler } from '../../handlers/workflow-handler.js';
import { PROMPTABLE_SEGMENTER_SCHEMA } from './schemas.js';

export type { PromptedImage } from './prompts.js';

/** The `params` of `promptable_segmenter`. */
export interface PromptableSegmenterParams {
  /**
   * Whether the answer has only the best mask of each object, or all that the model proposes.
   * @default 'best'
   */
  readonly masks?: 'best' | 'all';
  /**
   * The probability above which a pixel is in a mask.
   * @minimum 0
   * @maximum 1
   * @default 0.5
   */
  readonly maskThreshold?: number;
}

/** One mask of an object that points or a box have shown. */
export interface PromptedMask {
  /** Which object: the index of its box in `boxes`; 0 for points. */
  readonly object: number;
  /** How well the mask fits by the model's own estimate: the intersection over union with the object. */
  readonly score: number;
  /** The smallest box around the mask, in pixels of the upright photo. */
  readonly box: Box;
  /** Its pixels in the upright photo. */
  readonly mask: RunMask;
}

/** The keys of `handler:` that only the config sets. */
export interface PromptableSegmenterConfig extends Pick<VisionConfig, 'imageProcessing'>, StateConfig {}

/**
 * Segments the objects of a photo that points or boxes show, with models such as Segment Anything (SAM), SAM 2, SAM 3's
 * tracker and EdgeTAM, as transformers' processors do. The model is two files: the node `vision` (`vision_encoder.onnx`) encodes a photo, which
 * takes long, and the node `decoder` (`prompt_encoder_mask_decoder.onnx`) makes masks for prompts, `pred_masks`
 * `[1, objects, masks, height, width]` of logits, with `iou_scores` `[1, objects, masks]`. A photo of `client.keep` is
 * encoded once: what the encoder makes of it stays in the worker, up to `maxStateBytes`.
 *
 * What the export scripts of Segment Anything (which MobileSAM has, too) and of EfficientSAM write is read as well: an
 * archive with these two nodes, of which `vision` has the `imageProcessing` of its encoder. EfficientSAM reads up to six
 * points of an object, of which a box takes two, and none that are outside of it.
 *
 * A mask is interpolated as its processor does: for SAM to the size of the tensor, then without its padding to that of the
 * photo; for the others to that of the photo. A mask without a pixel is left out. `score` is the model's own
 * estimate of how well the mask fits (its intersection over union), which may be above 1. The runs of a mask are pairs of
 * a start and a length, of the photo's pixels row by row.
 * @input `{ image, points?, labels?, boxes? }`
 * @answer `[{ object, score, box: { xmin, ymin, xmax, ymax }, mask: { width, height, runs } }, …]`: the best mask of each
 *   object, or all, best first; box and mask in pixels of the image; `paintInstances` makes them an `ImageData`
 */
export class PromptableSegmenter extends WorkflowHandler<PromptedImage, readonly PromptedMask[]> {
  declare readonly paramsType?: PromptableSegmenterParams;

  static override readonly takes: InputKind = 'image';

  static override readonly huggingFace: HuggingFaceTask = {
    // Their repositories may name the model of videos, of which the export has the half that reads one image.
    architectures: [
      'SamModel',
      'Sam2Model',
      'Sam2VideoModel',
      'Sam3TrackerModel',
      'Sam3TrackerVideoModel',
      'EdgeTamModel',
      'EdgeTamVideoModel',
    ],
    processor: 'image',
    nodes: { vision: ['vision_encoder'], decoder: ['prompt_encoder_mask_decoder'] },
    nodeProcessors: { vision: 'image' },
  };

  declare readonly configType?: PromptableSegmenterConfig;
  static override readonly schema: ConfigSchema = PROMPTABLE_SEGMENTER_SCHEMA;

  #images!: EncodedImages;
  #decoder!: Session;
  #form!: PromptForm;

  /**
   * Opens encoder and decoder.
   * @throws `model-config` if the decoder has inputs that are neither the encoder's outputs nor prompts, or lacks some
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const encoder = await context.openHandler('vision', ImageEncoder);
    this.#images = new EncodedImages(encoder);
    this.#decoder = await context.open('decoder');
    this.#form = findForm(
      this.#decoder,
      encoder.handler.model.outputs.map(({ name }) => name),
    );
  }

  /** Returns the decoder's inputs for one point. */
  example(_context: Context, node?: string): Tensors | undefined {
    if (node !== 'decoder') return undefined;
    const encoded = zeros(this.#decoder.inputs.filter(({ name }) => !this.#form.inputs.includes(name)));
    const geometry = { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 };
    const placement = { width: 8, height: 8, tensorWidth: 8, tensorHeight: 8, geometry };
    return encoded && { ...encoded, ...this.#form.feeds({ points: [[1, 1]], labels: [1], boxes: [] }, placement)[0] };
  }

  /** Encodes the photos of the rows, and makes their masks. A row that cannot be answered fails alone. */
  override async inference(
    rows: readonly PromptedImage[],
    context: Context,
  ): Promise<readonly (readonly PromptedMask[] | PredictionError | undefined)[]> {
    const answers: (readonly PromptedMask[] | undefined)[] = [];
    for (const [index, row] of rows.entries())
      try {
        answers[index] = await this.#answer(row, index, context);
      } catch (error) {
        if (context.signal.aborted) throw error;
        context.fail(index, asTabServeError(error, 'inference'));
      }
    return Array.from({ length: rows.length }, (_, index) => answers[index]);
  }

  async #answer(row: PromptedImage, index: number, context: Context): Promise<readonly PromptedMask[]> {
    const prompts = readPrompts(row, this.#form.takesBoxes);
    const image = await this.#images.of(prompts.image, context);
    const feeds = this.#form.feeds(placePrompts(prompts, image.placement), image.placement);
    const encoded = Object.fromEntries(
      this.#decoder.inputs.flatMap(({ name }) => (name in image.outputs ? [[name, image.outputs[name]!]] : [])),
    );
    const runs: (readonly [Tensor, Tensor])[] = [];
    for (const prompted of feeds) {
      const outputs = await this.#decoder.run({ ...encoded, ...prompted }, { signal: context.signal });
      context.heartbeat();
      const [masks, scores] = this.#form.outputs;
      runs.push(this.#form.read(numbersOf(outputs, masks), numbersOf(outputs, scores)));
    }
    return await this.#masksOf(...joinObjects(runs), image, index, context);
  }

  async #masksOf(
    masks: Tensor,
    scores: Tensor,
    { placement, isPadded }: EncodedImage,
    index: number,
    context: Context,
  ): Promise<readonly PromptedMask[]> {
    const [maskName, scoreName] = this.#form.outputs;
    const [, objects = 0, count = 0, height = 0, width = 0] = masks.dims;
    if (masks.dims.length !== 5 || scores.data.length !== objects * count)
      throw new TabServeError(
        'inference-failed',
        `The outputs "${maskName}" and "${scoreName}" have the dims [${masks.dims.join(', ')}] and [${scores.dims.join(', ')}]; they must be [1, objects, masks, height, width] and [1, objects, masks].`,
      );
    const [logits, fits] = [toFloats(masks), toFloats(scores)];
    checkScores(logits, 'logits', false);
    checkScores(fits, 'logits', false);
    const { tensorWidth, tensorHeight } = placement;
    const tensor = { width: tensorWidth, height: tensorHeight };
    const grid = gridOf(isPadded ? tensor : { width, height }, placement);
    const threshold = this.param<number>('maskThreshold', index, context);
    const logit = Math.log(threshold / (1 - threshold));
    const all = this.param('masks', index, context) === 'all';
    const found: PromptedMask[] = [];
    for (let object = 0; object < objects; object++) {
      // Many boxes in a large photo take longer than a worker may be silent, and an abort may wait.
      await pause(context);
      const best = Array.from({ length: count }, (_, mask) => object * count + mask).toSorted(
        (a, b) => fits[b]! - fits[a]!,
      );
      for (const at of all ? best : best.slice(0, 1)) {
        const data = logits.subarray(at * width * height, (at + 1) * width * height);
        const map = { data, channels: 1, width, height, layout: 'NCHW' as const };
        const pixels = promptedMask(map, isPadded ? tensor : undefined, grid, logit);
        if (pixels) found.push({ object, score: fits[at]!, box: pixels.box, mask: pixels.mask });
      }
    }
    return transferResult(
      found,
      found.map(({ mask }) => mask.runs.buffer),
    );
  }
}

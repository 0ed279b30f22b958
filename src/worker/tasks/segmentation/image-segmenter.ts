import type { Context } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { Tensor, Tensors } from '../../../contract/tensors.js';
import { TabServeError } from '../../../contract/errors.js';
import { checkLabels, classCount, labelOf } from '../../outputs/labels.js';
import { mapForm, type MapForm, type MapLayout, type DimSize } from '../../outputs/maps.js';
import { checkFilled, checkRows, numbersOf } from '../../outputs/rows.js';
import { type OutputKind, segment, type Segmentation, type SegmentationForms, type SegmentParams } from './segment.js';
import { slice } from '../../tensors/tensors.js';
import { centerCrop, compose, normalize, resize, toTensor } from '../../transforms/index.js';
import { pause } from '../../../shared/next-task.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { ImageTensorInput, isChannelsLast } from '../../handlers/image-input.js';
import { exportOf } from '../../handlers/model-export.js';
import { gridOf } from '../../handlers/placements.js';
import { codeOfParams } from '../../handlers/row.js';
import { VisionHandler } from '../../handlers/vision-handler.js';
import type { VisionParams } from '../../handlers/vision-params.js';
import { IMAGE_SEGMENTER_SCHEMA } from './schemas.js';
import { declareStandard } from '../../handlers/handler-contract.js';
import type { VisionConfig } from '../../handlers/vision-params.js';

/** The labels of a model with two classes, if the archive has no labels. */
const BINARY_LABELS = ['background', 'foreground'];

/** The `params` of an image segmenter. */
export interface ImageSegmenterParams extends VisionParams {
  /**
   * The form of the result: a map of classes and scores (classes), the soft mask of one class (mask), or
   * TorchServe's tensor [height, width, 2] of class and probability (torchserve).
   * @default 'classes'
   */
  readonly result?: keyof SegmentationForms;
  /**
   * The size of the result: the size of the upright image (original), or the size of the model's map (model).
   * Default: model for result: torchserve, otherwise original. If a preprocess of your own does not call place(),
   * the result has the size of the model's map.
   */
  readonly size?: 'original' | 'model';
  /**
   * The class that a mask shows, by label or index. Default for a model with two classes: class 1.
   * @minimum 0
   * @schema {"type":["string","integer"],"minimum":0}
   */
  readonly foreground?: string | number;
  /**
   * For a model with one channel: a pixel whose probability, in 0..1, is above this threshold is of class 1.
   * Default 0.5.
   * @minimum 0
   * @maximum 1
   */
  readonly threshold?: number;
}

/** The keys of `handler:` that only the config sets. */
export interface ImageSegmenterConfig extends VisionConfig {
  /**
   * What the model's output holds: logits (softmax over the channels, or sigmoid of a single channel),
   * probabilities, or one integer class for each pixel.
   * @default 'logits'
   */
  readonly output?: 'logits' | 'probabilities' | 'classes';
  /**
   * The layout of the output. Default: the layout of the input, unless only the other layout fits the output's
   * dims.
   */
  readonly layout?: 'NCHW' | 'NHWC';
}

/**
 * Implements TorchServe's image segmenter: returns the class of each pixel, or the soft mask of one class.
 *
 * The model's output has the dims `[rows, classes, height, width]` or `[rows, height, width, classes]`. An output with
 * one channel, or without an axis of channels, holds the score of the foreground. The default transforms are
 * ImageNet's.
 *
 * With `size: 'original'`, results have the size of the upright image: the handler undoes scaling and removes padding.
 * Pixels that a crop removed get class 0 and score 0. This needs the placement of the image, which this class's
 * `preprocess` records. If a subclass overrides `preprocess` and does not call `place()` for a row, the size of its
 * image is unknown, and the result has the size of the model's map, as with `size: 'model'`.
 *
 * A class map interpolates the logits, a mask interpolates the probabilities; both bilinearly. If the model's output is
 * integer classes, each pixel gets the class of the nearest pixel of the map, and a mask interpolates zeros and ones.
 * @answer `{ result: 'classes', width, height, labels, classes, scores }` or `{ result: 'mask', width, height,
 *   label, mask }`, in the size of the image
 */
export class ImageSegmenter extends VisionHandler<Segmentation> {
  declare readonly paramsType?: ImageSegmenterParams;
  declare readonly resultForms?: SegmentationForms;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForSemanticSegmentation'],
    processor: 'image',
    hasClasses: true,
  };

  static override readonly nearest: readonly Signature[] = [{ order: 110, reads: 'images', main: { rank: 4 } }];

  declare readonly configType?: ImageSegmenterConfig;
  static override readonly schema: ConfigSchema = IMAGE_SEGMENTER_SCHEMA;

  override imageProcessing = compose(
    resize(256),
    centerCrop(224),
    toTensor(),
    normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
  );

  /**
   * Opens the model and checks its output.
   * @throws `model-config` if the output is not a map, or if the labels or the config do not fit it
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    (await exportOf(this.model))?.checkTask('image_segmenter');
    const { name, dtype, dims } = this.outputInfo;
    if (dtype === 'string' || (this.#kind !== 'classes' && dtype?.startsWith('float') === false)) {
      throw new TabServeError(
        'model-config',
        `handler.output: "${this.#kind}" must be ${this.#kind === 'classes' ? 'numbers' : 'floats'}, but the model's output "${name}" is ${dtype}. Change handler.output, or name another output in handler.outputName.`,
      );
    }
    // If the output declares no dims, `postprocess` checks them.
    if (dims.length > 0) this.#resolveParams(this.#form(dims, this.#inputSize).channels, 0, context);
  }

  get #kind(): OutputKind {
    return (this.config['output'] ?? this.defaults['output']) as OutputKind;
  }

  /** Returns the width and height of the model's input; a dynamic side is a name or null. */
  get #inputSize(): readonly [width: DimSize, height: DimSize] {
    const { width = null, height = null } = new ImageTensorInput(this.inputInfo, this.imageProcessing).size;
    return [width, height];
  }

  #form<S extends DimSize>(dims: readonly S[], input: readonly [width: DimSize, height: DimSize]): MapForm<S | 1> {
    const likely = isChannelsLast(this.imageProcessing) ? 'NHWC' : 'NCHW';
    return mapForm(dims, { layout: this.config['layout'] as MapLayout | undefined, likely, input });
  }

  /**
   * Returns the parameters of row `index`, with the defaults filled in.
   * @throws `model-config` if they do not fit the model; `invalid-input` for those of the request
   */
  #resolveParams(
    channels: DimSize,
    index: number,
    context: Context,
  ): SegmentParams & { readonly size: 'original' | 'model' } {
    const classes = this.#countClasses(channels);
    const result = this.param<SegmentParams['result']>('result', index, context);
    const size =
      this.param<'original' | 'model' | undefined>('size', index, context) ??
      (result === 'torchserve' ? 'model' : 'original');
    if (result === 'torchserve' && this.#kind === 'classes')
      throw new TabServeError(
        codeOfParams(['result'], index, context),
        'result: "torchserve" needs probabilities, but the model\'s output is classes. Use result: "classes" or "mask".',
      );
    const threshold = this.param<number | undefined>('threshold', index, context);
    if (threshold !== undefined && (this.#kind === 'classes' || (typeof channels === 'number' && channels > 1))) {
      throw new TabServeError(
        codeOfParams(['threshold'], index, context),
        'threshold: only an output with one channel of scores has a threshold. For other outputs, each pixel gets the likeliest class. Remove threshold.',
      );
    }
    return {
      result,
      size,
      threshold: threshold ?? 0.5,
      classes,
      foreground: result === 'mask' ? this.#foreground(classes, index, context) : 1,
    };
  }

  /**
   * Returns the number of classes, or undefined if it is unknown.
   * @throws `model-config` if the number of channels does not fit `output` or the labels
   */
  #countClasses(channels: DimSize): number | undefined {
    if (this.#kind === 'classes' && typeof channels === 'number' && channels > 1)
      throw new TabServeError(
        'model-config',
        `handler.output: "classes" needs an output with one channel, but the model's output has ${channels} channels. Use "logits" or "probabilities".`,
      );
    if (this.#kind === 'classes' || typeof channels !== 'number') return classCount(this.mapping);
    const classes = Math.max(channels, 2);
    checkLabels(
      this.mapping,
      classes,
      channels === 1 ? ' (its one channel separates the foreground from the background)' : '',
    );
    return classes;
  }

  #labels(classes = 0): readonly string[] {
    if (!this.mapping && classes === 2 && this.#kind !== 'classes') return [...BINARY_LABELS];
    return Array.from({ length: classes }, (_, index) => labelOf(this.mapping, index));
  }

  #foreground(classes: number | undefined, index: number, context: Context): number {
    const wanted =
      this.param<string | number | undefined>('foreground', index, context) ?? (classes === 2 ? 1 : undefined);
    const labels = this.#labels(classes);
    const found = typeof wanted === 'string' ? labels.indexOf(wanted) : (wanted ?? -1);
    if (found >= 0 && found < (classes ?? Infinity)) return found;
    const examples = labels.slice(0, 30).join(', ');
    throw new TabServeError(
      codeOfParams(['foreground', 'result'], index, context),
      `foreground: result "mask" needs a class of the model, by label or index, got ${JSON.stringify(wanted)}; the labels are ${examples || 'unknown'}.`,
    );
  }

  /** Converts the model's output to one segmentation for each row, and transfers its buffers to the page. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => Promise<Segmentation> {
    const { name } = this.outputInfo;
    const output = numbersOf(outputs, name);
    const rows = context.systemProperties.batchSize;
    checkRows(name, output, rows);
    checkFilled(name, output);
    return (index) => this.#segment(slice(output, index, index + 1), index, context);
  }

  static {
    declareStandard(this.prototype.rowResults);
  }

  async #segment(output: Tensor, index: number, context: Context): Promise<Segmentation> {
    const placement = this.placement(index, context);
    const form = this.#form(output.dims, placement ? [placement.tensorWidth, placement.tensorHeight] : this.#inputSize);
    const params = this.#resolveParams(form.channels, index, context);
    const grid = gridOf(form, params.size === 'original' ? placement : undefined);
    return await segment({
      output,
      form,
      kind: this.#kind,
      grid,
      labels: (classes) => this.#labels(classes),
      pause: () => pause(context),
      ...params,
    });
  }
}

import type { Context, MaybePromise } from '../contract/handler.js';
import type { Tensor, Tensors } from '../contract/tensors.js';
import { asTabServeError, TabServeError } from '../contract/errors.js';
import { classMap, highest, indicator, integerClasses, interleave, probabilityMap } from '../outputs/class-map.js';
import { checkLabels, classCount, labelOf } from '../outputs/labels.js';
import { mapForm, type MapForm, type MapLayout, type Maps, type DimSize } from '../outputs/maps.js';
import { axis, bilinear, nearest, type Grid } from '../outputs/interpolate.js';
import { checkScores, type ScoreKind } from '../outputs/scores.js';
import type { Segmentation, SegmentationForms } from '../outputs/segmentation.js';
import { slice, toFloats } from '../tensors/tensors.js';
import { transferResult } from '../outputs/transfer.js';
import { centerCrop, compose, normalize, resize, toTensor } from '../transforms/index.js';
import type { ConfigSchema } from '../shared/schema.js';
import { isChannelsLast, VisionHandler, type Placement, type VisionParams } from './vision-handler.js';

/** What a request asks for. */
interface ResolvedParams {
  readonly result: Segmentation['result'];
  readonly size: 'original' | 'model';
  readonly threshold: number;
  /** How many the model has, where that is known. */
  readonly classes: number | undefined;
  /** The class of a mask. */
  readonly foreground: number;
}

/** Labels of scores for two classes where the archive has none. */
const BINARY = ['background', 'foreground'];

/** The `params` of an image segmenter. */
export interface ImageSegmenterParams extends VisionParams {
  /** A map of classes and their scores, the soft mask of one class, or TorchServe's tensor. */
  readonly result?: keyof SegmentationForms;
  /** The result's size: that of the upright image, or that of the model's own map. */
  readonly size?: 'original' | 'model';
  /** The class of a mask, by its label or index. */
  readonly foreground?: string | number;
  /** The probability, 0 to 1, over which a pixel is class 1 where the model has a single channel. */
  readonly threshold?: number;
}

/**
 * TorchServe's image segmenter: the class of each pixel, or the soft mask of one class.
 *
 * Reads `[rows, classes, height, width]` or `[rows, height, width, classes]`; one channel, or none, is the foreground's score against the background's.
 * The transforms are ImageNet's. Results have the size of the upright image, whatever the transforms did: a stretch is undone, padding cut off,
 * and what a crop left out is class 0 with score 0. Class maps interpolate the logits, masks the probabilities, bilinearly both; integer classes are
 * the nearest pixel's, and as a mask a probability of 0 or 1.
 */
export class ImageSegmenter extends VisionHandler {
  declare readonly paramsType?: ImageSegmenterParams;
  declare readonly resultForms?: SegmentationForms;

  static override readonly schema: ConfigSchema = {
    output: {
      enum: ['logits', 'probabilities', 'classes'],
      readOnly: true,
      description:
        "What the model's numbers are: logits (softmax over the channels, sigmoid of a single one), probabilities, or one integer class a pixel.",
      default: 'logits',
    },
    layout: {
      enum: ['NCHW', 'NHWC'],
      readOnly: true,
      description: "The output's layout; by default the input's, unless the output's dims fit the other alone.",
    },
    result: {
      enum: ['classes', 'mask', 'torchserve'],
      description:
        "A map of classes and their scores, the soft mask of one class, or TorchServe's [height, width, 2] of class and probability.",
      default: 'classes',
    },
    size: {
      enum: ['original', 'model'],
      description:
        "A result's size: that of the upright image, in pixels, or that of the model's own map; original by default, model for TorchServe's shape.",
    },
    foreground: {
      type: ['string', 'integer'],
      minimum: 0,
      description: 'The class of a mask, by its label or index; class 1 of two by default.',
    },
    threshold: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description:
        'The probability, 0 to 1, over which a pixel is class 1 where the model has a single channel; 0.5 by default.',
    },
  };

  override imageProcessing = compose(
    resize(256),
    centerCrop(224),
    toTensor(),
    normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
  );

  /** @throws `model-config` if the output is no map, or labels and parameters do not fit it */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const { name, dtype, dims } = this.outputInfo;
    if (dtype === 'string' || (this.#kind !== 'classes' && dtype?.startsWith('float') === false)) {
      throw new TabServeError(
        'model-config',
        `handler.output: the model's output "${name}" is ${dtype}: "${this.#kind}" are ${this.#kind === 'classes' ? 'numbers' : 'floats'}.`,
      );
    }
    // An output that declares no dims is read as it comes.
    if (dims.length > 0) this.#resolve(this.#form(dims, this.#inputSize).channels, 0, context);
  }

  get #kind(): ScoreKind | 'classes' {
    return (this.config['output'] ?? this.defaults['output']) as ScoreKind | 'classes';
  }

  /** The input's size, where it is known. */
  get #inputSize(): readonly [width: DimSize, height: DimSize] {
    const [, ...dims] = this.inputInfo.dims;
    const [height = null, width = null] = isChannelsLast(this.imageProcessing) ? dims : dims.slice(1);
    return [width, height];
  }

  #form<S extends DimSize>(dims: readonly S[], input: readonly [width: DimSize, height: DimSize]): MapForm<S | 1> {
    const likely = isChannelsLast(this.imageProcessing) ? 'NHWC' : 'NCHW';
    return mapForm(dims, { layout: this.config['layout'] as MapLayout | undefined, likely, input });
  }

  /** What row `index` asks for, held against the model. @throws `model-config` */
  #resolve(channels: DimSize, index: number, context: Context): ResolvedParams {
    const classes = this.#countClasses(channels);
    const result = this.param<ResolvedParams['result']>('result', index, context);
    const size =
      this.param<ResolvedParams['size'] | undefined>('size', index, context) ??
      (result === 'torchserve' ? 'model' : 'original');
    if (result === 'torchserve' && this.#kind === 'classes')
      throw new TabServeError(
        'model-config',
        'result: "torchserve" needs probabilities, which an output of classes has not.',
      );
    const threshold = this.param<number | undefined>('threshold', index, context);
    if (threshold !== undefined && (this.#kind === 'classes' || (typeof channels === 'number' && channels > 1))) {
      throw new TabServeError(
        'model-config',
        "threshold: it is for outputs of one channel; of several channels, or of classes, the model's likeliest is taken.",
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

  /** @throws `model-config` if the channels do not fit the labels, or `output` */
  #countClasses(channels: DimSize): number | undefined {
    if (this.#kind === 'classes' && typeof channels === 'number' && channels > 1)
      throw new TabServeError(
        'model-config',
        `handler.output: "classes" is one channel, but the model's output has ${channels}.`,
      );
    if (this.#kind === 'classes' || typeof channels !== 'number') return classCount(this.mapping);
    const classes = Math.max(channels, 2);
    checkLabels(this.mapping, classes, channels === 1 ? ' (one channel is the background and the foreground)' : '');
    return classes;
  }

  #labels(classes = 0): readonly string[] {
    if (!this.mapping && classes === 2 && this.#kind !== 'classes') return BINARY;
    return Array.from({ length: classes }, (_, index) => labelOf(this.mapping, index));
  }

  #foreground(classes: number | undefined, index: number, context: Context): number {
    const wanted =
      this.param<string | number | undefined>('foreground', index, context) ?? (classes === 2 ? 1 : undefined);
    const labels = this.#labels(classes);
    const found = typeof wanted === 'string' ? labels.indexOf(wanted) : (wanted ?? -1);
    if (found >= 0 && found < (classes ?? Infinity)) return found;
    const some = labels.slice(0, 30).join(', ');
    throw new TabServeError(
      'model-config',
      `foreground: result "mask" needs a class of the model by label or index, got ${JSON.stringify(wanted)}; there are ${some || 'no labels'}.`,
    );
  }

  /**
   * Turns the model's output into one segmentation a row, whose buffers are moved to the page.
   *
   * An override may return any list, of one result a row, and it calls `super.postprocess` without a cast. The two equal signatures with a type
   * parameter allow it: TypeScript compares an override with overloads as if their type parameters were `any`. Leave the type parameter alone.
   */
  override postprocess<Row extends Segmentation = Segmentation>(
    outputs: Tensors,
    context: Context,
  ): MaybePromise<readonly Row[]>;
  override postprocess<Row extends Segmentation = Segmentation>(
    outputs: Tensors,
    context: Context,
  ): MaybePromise<readonly Row[]>;
  override postprocess(outputs: Tensors, context: Context): MaybePromise<readonly unknown[]> {
    const { name } = this.outputInfo;
    const output = outputs[name]!;
    const rows = context.systemProperties.batchSize;
    if (output.dims[0] !== rows)
      throw new TabServeError(
        'batch-contract',
        `Output "${name}" of dims [${output.dims.join(', ')}] has no axis for ${rows} rows.`,
      );
    return Array.from({ length: rows }, (_, index) => {
      try {
        if (!context.failures.has(index)) return this.#segment(slice(output, index, index + 1), index, context);
      } catch (error) {
        context.fail(index, asTabServeError(error, 'postprocess'));
      }
      return undefined;
    });
  }

  #segment(output: Tensor, index: number, context: Context): Segmentation {
    const placement = this.placement(index, context);
    const form = this.#form(output.dims, placement ? [placement.tensorWidth, placement.tensorHeight] : this.#inputSize);
    const params = this.#resolve(form.channels, index, context);
    const grid = gridOf(form, params.size === 'original' ? placement : undefined);
    const size = { width: grid.columns.size, height: grid.rows.size };
    if (params.result === 'mask') {
      const mask = bilinear(this.#probabilities(output, form, params.foreground), grid);
      return transferResult(
        {
          result: 'mask',
          ...size,
          label: this.#labels(params.classes)[params.foreground] ?? String(params.foreground),
          mask,
        },
        [mask.buffer],
      );
    }
    if (this.#kind === 'classes') {
      const classes = nearest(integerClasses(output), form.width, grid);
      return transferResult(
        {
          result: 'classes',
          ...size,
          labels: this.#labels(Math.max(params.classes ?? 0, highest(classes) + 1)),
          classes,
        },
        [classes.buffer],
      );
    }
    const { classes, scores } = classMap(this.#scores(output, form, this.#kind), this.#kind, grid, params.threshold);
    if (params.result === 'torchserve') {
      const data = interleave(classes, scores);
      return transferResult({ result: 'torchserve', dtype: 'float32', dims: [size.height, size.width, 2], data }, [
        data.buffer,
      ]);
    }
    return transferResult({ result: 'classes', ...size, labels: this.#labels(params.classes), classes, scores }, [
      classes.buffer,
      scores.buffer,
    ]);
  }

  #scores(output: Tensor, form: MapForm, kind: ScoreKind): Maps {
    const data = toFloats(output);
    checkScores(data, kind);
    return { ...form, data };
  }

  #probabilities(output: Tensor, form: MapForm, wanted: number): Maps {
    if (this.#kind === 'classes') return { ...form, data: indicator(integerClasses(output), wanted) };
    return probabilityMap(this.#scores(output, form, this.#kind), this.#kind, wanted);
  }
}

/** From the model's map to the image, or to the map itself without a placement. */
function gridOf({ width, height }: MapForm, placement: Placement | undefined): Grid {
  if (!placement) return { columns: axis(width, width), rows: axis(height, height) };
  const { tensorWidth, tensorHeight, geometry } = placement;
  const [x, y] = [width / tensorWidth, height / tensorHeight];
  return {
    columns: axis(placement.width, width, geometry.scaleX * x, geometry.offsetX * x),
    rows: axis(placement.height, height, geometry.scaleY * y, geometry.offsetY * y),
  };
}

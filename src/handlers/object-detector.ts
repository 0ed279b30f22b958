import type { Context, MaybePromise, Params } from '../contract/handler.js';
import type { Tensor, Tensors } from '../contract/tensors.js';
import { asTabServeError } from '../contract/errors.js';
import type { Box, Detection, DetectionForms, Detections } from '../outputs/detection/detection.js';
import type { DetectionDecoder, ModelFacts, Size, TensorView } from '../outputs/detection/decoder.js';
import { createDecoder, decoderSchema, USUAL_THRESHOLDS } from '../outputs/detection/formats.js';
import { select } from '../outputs/detection/proposals.js';
import { checkLabels, labelCount, labelOf } from '../outputs/labels.js';
import { nms } from '../outputs/nms.js';
import { pad, stack, toFloats } from '../tensors/tensors.js';
import { compose, toTensor } from '../transforms/index.js';
import type { ConfigSchema } from '../shared/schema.js';
import { runRows } from './run-model.js';
import { VisionHandler, type Placement, type VisionParams } from './vision-handler.js';

/** TorchServe's threshold. */
const SCORE_THRESHOLD = 0.5;

/** The `params` of an object detector. */
export interface ObjectDetectorParams extends VisionParams {
  /** The lowest score of a detection, 0 to 1. */
  readonly scoreThreshold?: number;
  /** Of two boxes of one class whose IoU is greater, the one of lower score is dropped; 1 keeps all. */
  readonly iouThreshold?: number;
  /** The most detections of one image. */
  readonly maxDetections?: number;
  /** The form of the result: `{ label, score, box }`, or TorchServe's. */
  readonly result?: keyof DetectionForms;
}

/**
 * TorchServe's object detector: what is where in each image, in the image's own pixels, whatever `imageProcessing` did to it.
 * `handler.decoder` says what the model's outputs mean. Of overlapping boxes of one class only the best is kept.
 * A score or a corner that is not finite is left out; a row that has scores, but none that is finite, fails with `inference-failed`.
 */
export class ObjectDetector extends VisionHandler {
  declare readonly paramsType?: ObjectDetectorParams;
  declare readonly resultForms?: DetectionForms;

  static override readonly schema: ConfigSchema = {
    decoder: {
      ...decoderSchema,
      readOnly: true,
      description: "The format of the model's outputs: its name, or its name with options.",
      default: 'torchvision',
    },
    scoreThreshold: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'The lowest score of a detection, in 0..1.',
      default: SCORE_THRESHOLD,
    },
    iouThreshold: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: `Of two boxes of one class whose IoU is greater, the one of lower score is dropped; 1 keeps all. The default is the decoder’s: ${USUAL_THRESHOLDS}.`,
    },
    maxDetections: {
      type: 'integer',
      minimum: 1,
      description: 'The most detections of one image, the best ones.',
      default: 100,
    },
    result: {
      enum: ['typed', 'torchserve'],
      description:
        'typed: { label, score, box }; torchserve: { [label]: [x1, y1, x2, y2], score }, in which a class labeled "score" loses its box.',
      default: 'typed',
    },
  };

  override imageProcessing = compose(toTensor());

  /** The lowest score of a detection, unless the config or a request says otherwise. */
  threshold = SCORE_THRESHOLD;

  protected override get defaults(): Params {
    return { ...super.defaults, scoreThreshold: this.threshold };
  }

  #decoder!: DetectionDecoder;

  /** @throws `model-config` if the decoder does not fit the model's outputs, or the labels its classes */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.#decoder = await this.createDecoder({
      outputs: this.model.outputs,
      output: this.outputInfo,
      size: this.fixedSize,
      labels: labelCount(this.mapping),
      json: (path) => context.files.json(path),
      warn: (message) => context.warn(message),
    });
    if (this.#decoder.classes !== undefined) checkLabels(this.mapping, this.#decoder.classes);
  }

  /**
   * Makes the decoder of the model's outputs; here the one that `handler.decoder` names. Override it for outputs of a form that no built-in decoder reads:
   * boxes in the image's pixels, thresholds, non-maximum suppression and labels are kept.
   *
   * ```ts
   * protected override createDecoder({ output }: ModelFacts): DetectionDecoder {
   *   return {
   *     outputs: [output.name],
   *     isBatched: true,
   *     classes: 1,
   *     iouThreshold: 0.5,
   *     decode([faces]) {
   *       const count = faces!.dims[0]!; // [faces, 5]: x, y, width, height, score, in pixels of the tensor
   *       const at = (face: number, column: number) => faces!.data[face * 5 + column]!;
   *       return {
   *         scores: Float64Array.from({ length: count }, (_, face) => at(face, 4)),
   *         classes: new Int32Array(count),
   *         box: (face) => ({ xmin: at(face, 0), ymin: at(face, 1), xmax: at(face, 0) + at(face, 2), ymax: at(face, 1) + at(face, 3) }),
   *       };
   *     },
   *   };
   * }
   * ```
   */
  protected createDecoder(model: ModelFacts): MaybePromise<DetectionDecoder> {
    return createDecoder(this.config['decoder'] ?? this.defaults['decoder'], model);
  }

  /** Runs the model; one whose outputs have no batch axis once for each row. Outputs that are longer for some rows than for others are filled up with −1, a score that no threshold lets pass. */
  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    if (this.#decoder.isBatched) return await super.inference(inputs, context);
    const rows = await runRows(this.model, inputs);
    return Object.fromEntries(
      this.#decoder.outputs.map((name) => [name, stackPadded(rows.map((outputs) => outputs[name]!))]),
    );
  }

  /**
   * Turns the model's outputs into what each row's image shows.
   *
   * An override may return any list, of one result a row, and it calls `super.postprocess` without a cast. The two equal signatures with a type
   * parameter allow it: TypeScript compares an override with overloads as if their type parameters were `any`. Leave the type parameter alone.
   */
  override postprocess<Row extends Detections = Detections>(
    outputs: Tensors,
    context: Context,
  ): MaybePromise<readonly Row[]>;
  override postprocess<Row extends Detections = Detections>(
    outputs: Tensors,
    context: Context,
  ): MaybePromise<readonly Row[]>;
  override postprocess(outputs: Tensors, context: Context): MaybePromise<readonly unknown[]> {
    const rows = context.systemProperties.batchSize;
    const tensors = this.#decoder.outputs.map((name) => ({
      dims: outputs[name]!.dims.slice(1),
      data: toFloats(outputs[name]!),
    }));
    return Array.from({ length: rows }, (_, index) => {
      if (context.failures.has(index)) return [];
      try {
        const placement = this.requirePlacement(index, context);
        const views = tensors.map(({ dims, data }) => ({
          dims,
          data: data.subarray((index * data.length) / rows, ((index + 1) * data.length) / rows),
        }));
        const detections = this.#detect(views, placement, index, context);
        return this.param<string>('result', index, context) === 'torchserve'
          ? detections.map(toTorchServe)
          : detections;
      } catch (error) {
        context.fail(index, asTabServeError(error, 'postprocess'));
        return [];
      }
    });
  }

  #detect(views: readonly TensorView[], placement: Placement, index: number, context: Context): Detections {
    const size: Size = { width: placement.tensorWidth, height: placement.tensorHeight };
    const candidates = select(this.#decoder.decode(views, size), this.param('scoreThreshold', index, context))
      .map((candidate) => ({ ...candidate, ...toImage(candidate, placement) }))
      .filter((candidate) => !isEmpty(clip(candidate, placement)));
    const kept = nms(
      candidates,
      this.param<number | undefined>('iouThreshold', index, context) ?? this.#decoder.iouThreshold,
      this.param('maxDetections', index, context),
    );
    return kept.map((candidate) => ({
      label: labelOf(this.mapping, candidate.classIndex),
      score: candidate.score,
      box: clip(candidate, placement),
    }));
  }
}

function stackPadded(rows: readonly Tensor[]): Tensor {
  const floats = rows.map((tensor): Tensor<'float32'> => ({
    dtype: 'float32',
    dims: tensor.dims,
    data: toFloats(tensor),
  }));
  const longest = Math.max(...floats.map(({ dims }) => dims[0]!));
  return stack(floats.map((tensor) => pad(tensor, longest, -1)));
}

/** From pixels of the tensor to those of the image. */
function toImage({ xmin, ymin, xmax, ymax }: Box, { geometry: { scaleX, scaleY, offsetX, offsetY } }: Placement): Box {
  return {
    xmin: (xmin - offsetX) / scaleX,
    ymin: (ymin - offsetY) / scaleY,
    xmax: (xmax - offsetX) / scaleX,
    ymax: (ymax - offsetY) / scaleY,
  };
}

function clip({ xmin, ymin, xmax, ymax }: Box, { width, height }: Size): Box {
  const within = (value: number, limit: number): number => Math.min(Math.max(value, 0), limit);
  return {
    xmin: within(xmin, width),
    ymin: within(ymin, height),
    xmax: within(xmax, width),
    ymax: within(ymax, height),
  };
}

function isEmpty({ xmin, ymin, xmax, ymax }: Box): boolean {
  return !(xmax > xmin && ymax > ymin);
}

function toTorchServe({ label, score, box: { xmin, ymin, xmax, ymax } }: Detection): Record<string, unknown> {
  return { [label]: [xmin, ymin, xmax, ymax], score };
}

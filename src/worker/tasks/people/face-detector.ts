import { asTabServeError, TabServeError } from '../../../contract/errors.js';
import type { Context } from '../../../contract/handler.js';
import type { ImageInput } from '../../../contract/images.js';
import type { Tensors } from '../../../contract/tensors.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { makeAnchors, type BlazefaceAnchors } from '../../outputs/boxes/anchors.js';
import type { FoundFace } from './found.js';
import { inPhoto, mergeOverlapping, readKeyPoints } from './key-points.js';
import { squareOf } from './region.js';
import { checkRows, numbersOf } from '../../outputs/rows.js';
import { checkScores } from '../../outputs/scores.js';
import { toFloats } from '../../tensors/tensors.js';
import { compose, layout, normalize, toTensor } from '../../transforms/index.js';
import { cropRegion } from '../../transforms/crop-region.js';
import { isTensorInput } from '../../handlers/image-input.js';
import { unwrap, type Row } from '../../handlers/row.js';
import { VisionHandler } from '../../handlers/vision-handler.js';
import type { VisionParams } from '../../handlers/vision-params.js';
import { FACE_DETECTOR_SCHEMA } from './schemas.js';
import { floatOutput } from '../../outputs/floats.js';
import type { VisionConfig } from '../../handlers/vision-params.js';

export type { FoundFace, Landmark } from './found.js';

/** The `params` of a face detector. */
export interface FaceDetectorParams extends VisionParams {
  /**
   * The least score of a face. MediaPipe: min_detection_confidence.
   * @minimum 0
   * @maximum 1
   * @default 0.5
   */
  readonly scoreThreshold?: number;
  /**
   * Boxes that overlap more are one face. MediaPipe: min_suppression_threshold.
   * @minimum 0
   * @maximum 1
   * @default 0.3
   */
  readonly iouThreshold?: number;
  /**
   * The maximum number of faces of a photo.
   * @integer
   * @minimum 1
   * @maximum 1000
   * @default 100
   */
  readonly maxDetections?: number;
}

type Size = { readonly width: number; readonly height: number };

/** The keys of `handler:` that only the config sets. */
export interface FaceDetectorConfig extends VisionConfig {
  /**
   * The sides of the feature maps, and how many anchors each of their cells has. Default: those of the face
   * detector for short range.
   * @default {'grids':[16, 8], 'perCell':[2, 6]}
   */
  readonly anchors?: {
    /**
     * The cells along each side of the feature maps, which are square.
     * @minItems 1
     * @maxItems 8
     * @items {"type":"integer","minimum":1,"maximum":512}
     */
    readonly grids: readonly number[];
    /**
     * The number of anchors in each cell, for each feature map.
     * @minItems 1
     * @maxItems 8
     * @items {"type":"integer","minimum":1,"maximum":16}
     */
    readonly perCell: readonly number[];
  };
  /**
   * The names of the key points, in order.
   * @default ['rightEye', 'leftEye', 'noseTip', 'mouth', 'rightEar', 'leftEar']
   */
  readonly points?: readonly string[];
}

/**
 * Finds faces and their key points with MediaPipe's detectors, whose output `[rows, anchors, 5 + 2 · points]` has for
 * each anchor a score (a logit), a box and key points, in pixels of the tensor. With other `anchors` and `points` it
 * finds palms and people. A photo is shown in the middle of a black square, sampled without antialiasing, as MediaPipe
 * does; then come the steps of `imageProcessing`, by default numbers in −1..1, channels last.
 * @answer `[{ score, box: { xmin, ymin, xmax, ymax }, landmarks: [{ x, y, name }, …] }, …]`, best first, in pixels of the
 *   image; boxes and points may lie beyond its edge ([people](people.md))
 */
export class FaceDetector extends VisionHandler<readonly FoundFace[]> {
  declare readonly paramsType?: FaceDetectorParams;

  declare readonly configType?: FaceDetectorConfig;
  static override readonly schema: ConfigSchema = FACE_DETECTOR_SCHEMA;

  override imageProcessing = compose(toTensor(), normalize([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]), layout('NHWC'));

  #anchors!: Float64Array;
  #points!: readonly string[];
  #side!: number;
  /** The sizes of the photos of a batch, by row. */
  readonly #sizes = new WeakMap<Context, Size[]>();

  /** Opens the model. @throws `model-config` if input or output do not fit the anchors and the points */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const { grids, perCell } = (this.config['anchors'] ?? this.defaults['anchors']) as BlazefaceAnchors;
    this.#points = (this.config['points'] ?? this.defaults['points']) as readonly string[];
    if (grids.length !== perCell.length)
      throw new TabServeError(
        'model-config',
        `handler.anchors: grids has ${grids.length} items and perCell ${perCell.length}. Give one of each for every feature map.`,
      );
    const size = this.fixedSize;
    if (!size || size.width !== size.height)
      throw new TabServeError(
        'model-config',
        `face_detector needs a model for square images of one size, but the input "${this.inputInfo.name}" has the dims [${this.inputInfo.dims.map((one) => one ?? '?').join(', ')}].`,
      );
    this.#side = size.width;
    this.#anchors = makeAnchors({ blazeface: { grids, perCell } }, size);
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config);
    this.#checkDims(this.outputInfo.dims);
  }

  #checkDims(dims: readonly (number | string | null | undefined)[]): void {
    const expected = [this.#anchors.length / 4, 5 + 2 * this.#points.length];
    if (dims.length === 3 && expected.every((one, at) => typeof dims[at + 1] !== 'number' || dims[at + 1] === one))
      return;
    throw new TabServeError(
      'model-config',
      `handler.anchors and handler.points describe an output [rows, ${expected.join(', ')}], but "${this.outputInfo.name}" has the dims [${dims.map((one) => one ?? '?').join(', ')}]. Change them, or name another output in handler.outputName.`,
    );
  }

  /** Decodes each photo, and shows it in a square. A photo that cannot be decoded fails alone. */
  override async preprocess(data: readonly Row<ImageInput>[], context: Context): Promise<Tensors> {
    const sizes: Size[] = [];
    const squares: ImageInput[] = [];
    for (const [index, item] of data.entries()) {
      const input = unwrap(item);
      sizes[index] = { width: this.#side, height: this.#side };
      squares[index] = this.#black();
      if (isTensorInput(input)) squares[index] = input;
      else
        try {
          const image = await context.decodeImage(input, {
            exifOrientation: this.param('exifOrientation', index, context),
            background: this.param('background', index, context),
          });
          try {
            const pixels = await cropRegion(image, squareOf(image), { columns: this.#side, rows: this.#side }, 'zero');
            squares[index] = { data: pixels.data as Uint8ClampedArray, dims: [this.#side, this.#side, 3] };
            sizes[index] = { width: image.width, height: image.height };
          } finally {
            image.close();
          }
        } catch (error) {
          context.fail(index, asTabServeError(error, 'preprocess'));
        }
    }
    this.#sizes.set(context, sizes);
    return await super.preprocess(squares, context);
  }

  #black(): ImageInput {
    return { data: new Uint8ClampedArray(3 * this.#side ** 2), dims: [this.#side, this.#side, 3] };
  }

  /** Reads the faces of each row. A row with a number that is not finite fails with `inference-failed`. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => readonly FoundFace[] {
    const { name } = this.outputInfo;
    const output = numbersOf(outputs, name);
    const sizes = this.#sizes.get(context)!;
    checkRows(name, output, sizes.length);
    this.#checkDims(output.dims);
    const floats = toFloats(output);
    const length = floats.length / sizes.length;
    return (index) => {
      const own = floats.subarray(index * length, (index + 1) * length);
      checkScores(own, 'logits', false);
      const rows = { anchors: this.#anchors, side: this.#side, points: this.#points };
      const merged = mergeOverlapping(
        readKeyPoints(own, rows, this.param('scoreThreshold', index, context)),
        this.param('iouThreshold', index, context),
        this.param('maxDetections', index, context),
      );
      const square = squareOf(sizes[index]!);
      return merged.map((one) => inPhoto(one, square, this.#side));
    };
  }
}

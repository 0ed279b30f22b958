import type { Context, ResultOf } from '../contract/handler.js';
import type { DecodeOptions, ImageInput, Rect } from '../contract/images.js';
import type { DType, Tensor, TensorInfo, Tensors, TypedArrayInput } from '../contract/tensors.js';
import { asTabServeError, TabServeError, type PredictionError } from '../contract/errors.js';
import { toFloat16 } from '../tensors/float16.js';
import { from as tensor, row as rowOf, stack } from '../tensors/tensors.js';
import {
  compileTransforms,
  compose,
  parseTransforms,
  toTensor,
  type Geometry,
  type CompiledTransforms,
  type Transforms,
} from '../transforms/index.js';
import { BaseHandler } from './base-handler.js';
import { drawExamplePicture } from './example-picture.js';
import type { ConfigSchema } from '../shared/schema.js';
import { rowContext, unwrap, type Row } from './row.js';

/** The dtypes that an image input may have. */
const PIXEL_DTYPES: readonly DType[] = ['float32', 'float16', 'uint8', 'int32'];

/** The side of the example pictures, in pixels. */
const EXAMPLE_SIZE = 256;

/** The amount of texture and shapes in each example picture, in 0..1. The first picture is a smooth gradient. */
const EXAMPLE_DETAILS: readonly number[] = [0, 0.4, 1];

/**
 * Where an image lies in its tensor: both sizes in pixels, and the map from points of the upright image to the tensor.
 */
export interface Placement {
  readonly width: number;
  readonly height: number;
  readonly tensorWidth: number;
  readonly tensorHeight: number;
  readonly geometry: Geometry;
}

/** The `params` of every image handler. */
export interface VisionParams {
  /** Whether the decoder turns photos upright by their EXIF tag. */
  readonly exifOrientation?: boolean;
  /** The color behind transparent pixels: red, green and blue, each in 0..255. */
  readonly background?: readonly [red: number, green: number, blue: number];
}

/**
 * Decodes images, upright and without alpha, and converts them to the model's tensor with `imageProcessing`.
 * If an image cannot be decoded, only its row fails. If the tensors of a batch differ in size, the rows run one by one.
 */
export class VisionHandler extends BaseHandler<ImageInput> {
  declare readonly paramsType?: VisionParams;

  static override readonly schema: ConfigSchema = {
    // parseTransforms checks the steps when it reads them, including their order.
    imageProcessing: {
      type: 'array',
      readOnly: true,
      description: 'The steps that convert pixels to the tensor, in order. Default: the steps of the handler class.',
    },
    exifOrientation: {
      type: 'boolean',
      description: 'Whether to turn photos upright by their EXIF tag.',
      default: true,
    },
    background: {
      type: 'array',
      items: { type: 'integer', minimum: 0, maximum: 255 },
      minItems: 3,
      maxItems: 3,
      description: 'The color behind transparent pixels: [red, green, blue], each in 0..255.',
      default: [255, 255, 255],
    },
    maxImagePixels: {
      type: 'integer',
      minimum: 1,
      readOnly: true,
      description: 'The most pixels of an image; a larger image fails with image-too-large. Default 178956970.',
    },
  };

  /** The steps that convert pixels to the tensor. An archive's `handler.imageProcessing` replaces them. */
  imageProcessing: Transforms = compose(toTensor());
  #transforms!: CompiledTransforms;
  /** The placements of each batch's rows, by the batch's context. */
  readonly #placements = new WeakMap<Context, Placement[]>();
  /** The contexts of batches whose tensors differ in size. */
  readonly #mixedSizes = new WeakSet<Context>();

  /**
   * Opens the model and compiles the transforms.
   * @throws `model-config` if the transforms produce a tensor that does not fit the model's input
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const configured = this.config['imageProcessing'];
    if (configured !== undefined) this.imageProcessing = parseTransforms(configured);
    this.#transforms = compileTransforms(this.imageProcessing);
    if (this.#preprocessesImages) this.#checkFit();
  }

  /**
   * Returns whether `preprocess` is this class's. If a subclass overrides it, `imageProcessing` need not fit the model.
   */
  get #preprocessesImages(): boolean {
    return (this.constructor as typeof VisionHandler).prototype.preprocess === VisionHandler.prototype.preprocess;
  }

  /**
   * Compares the dims of the transforms' tensor with the dims of the model's input. It ignores dims that depend on the
   * image: the dims that differ between the tensors of two images of different sizes.
   */
  #checkFit(): void {
    const { name, dtype } = this.inputInfo;
    if (!PIXEL_DTYPES.includes(dtype))
      throw new TabServeError(
        'model-config',
        `handler.inputName: the model's input for images must be ${PIXEL_DTYPES.join(', ')}, but "${name}" is ${dtype}. Name another input.`,
      );
    const [dims, otherDims] = [this.#transforms.outputDims(640, 480), this.#transforms.outputDims(481, 641)] as const;
    const fixed = dims.map((size, axis) => (size === otherDims[axis] ? size : undefined));
    if (this.#fits(fixed)) return;
    const produced = ['batch', ...fixed.map((size) => size ?? '?')].join(', ');
    throw new TabServeError(
      'model-config',
      `handler.imageProcessing produces [${produced}], but the model's input expects ${this.#inputDims}. Change the size, channels or layout in the steps.`,
    );
  }

  /**
   * Returns the dims of the model's input without the batch axis. A model of three dims takes one image and has no
   * batch axis.
   */
  get #rowDims(): TensorInfo['dims'] {
    const { dims } = this.inputInfo;
    return dims.length === 3 ? dims : dims.slice(1);
  }

  /** Returns whether a row of these dims fits the model's input. An undefined size fits every size. */
  #fits(dims: readonly (number | undefined)[]): boolean {
    const expected = this.#rowDims;
    return (
      dims.length === expected.length &&
      dims.every((size, axis) => size === undefined || typeof expected[axis] !== 'number' || expected[axis] === size)
    );
  }

  get #inputDims(): string {
    return `[${this.inputInfo.dims.map((size) => size ?? '?').join(', ')}]`;
  }

  /**
   * Returns the tensor of a black image. It runs the transforms, so the browser compiles them before the first request.
   */
  override async example(context: Context): Promise<Tensors | undefined> {
    if (!this.#canUseExamples) return await super.example(context);
    return await this.#tensorsOf(new Uint8Array(EXAMPLE_SIZE * EXAMPLE_SIZE * 3));
  }

  /**
   * Returns the tensors of drawn pictures that have the features of photographs: soft light, colors, texture and edges.
   * The list is empty if a subclass overrides `preprocess`.
   */
  async examples(_context: Context): Promise<readonly Tensors[]> {
    if (!this.#canUseExamples) return [];
    const pictures = EXAMPLE_DETAILS.map((detail, index) => drawExamplePicture(index + 1, EXAMPLE_SIZE, detail));
    return await Promise.all(pictures.map((picture) => this.#tensorsOf(picture)));
  }

  get #canUseExamples(): boolean {
    return this.#preprocessesImages && this.#fits(this.#transforms.outputDims(EXAMPLE_SIZE, EXAMPLE_SIZE));
  }

  /** Runs the transforms on a picture. @param picture 8-bit RGB, `EXAMPLE_SIZE` wide and high */
  async #tensorsOf(picture: Uint8Array): Promise<Tensors> {
    const [width, height] = [EXAMPLE_SIZE, EXAMPLE_SIZE];
    const { dims, data } = await this.#transforms.run({
      format: 'RGB',
      width,
      height,
      stride: width * 3,
      data: picture,
    });
    return this.#toInputs([{ dtype: 'float32', dims, data }]);
  }

  /** Runs all stages on a batch. If the tensors of its images differ in size, it runs all stages on each row alone. */
  override async handle(
    data: readonly Row<ImageInput>[],
    context: Context,
  ): Promise<readonly (ResultOf<this> | PredictionError)[]> {
    try {
      return await super.handle(data, context);
    } catch (error) {
      if (!this.#mixedSizes.has(context)) throw error;
    }
    const results: (ResultOf<this> | PredictionError)[] = [];
    for (const [index, item] of data.entries())
      results.push(...(await super.handle([item], rowContext(context, index))));
    return results;
  }

  /**
   * Converts images to the model's input, `[rows, …]`.
   * @throws `invalid-input` if the tensors differ in size; `handle` then runs each row alone
   */
  override async preprocess(data: readonly Row<ImageInput>[], context: Context): Promise<Tensors> {
    const rows: (Tensor | undefined)[] = [];
    let firstRow: Tensor | undefined;
    for (const [index, item] of data.entries()) {
      try {
        rows[index] = await this.#toTensor(unwrap(item), index, context);
      } catch (error) {
        context.fail(index, asTabServeError(error, 'preprocess'));
      }
      firstRow ??= rows[index];
      if (!hasSameDims(rows[index], firstRow)) {
        this.#mixedSizes.add(context);
        throw new TabServeError(
          'invalid-input',
          `The tensors of this batch differ in size: [${firstRow!.dims.join(', ')}] and [${rows[index]!.dims.join(', ')}]. Resize the images to one size.`,
        );
      }
    }
    if (!firstRow) return {};
    let blank: Tensor | undefined;
    return this.#toInputs(
      Array.from(
        { length: data.length },
        (_, index) => rows[index] ?? (blank ??= { ...firstRow, data: new Float32Array(firstRow.data.length) }),
      ),
    );
  }

  async #toTensor(input: ImageInput, index: number, context: Context): Promise<Tensor> {
    if (isTensor(input)) return this.#placeTensor(input, index, context);
    const image = await context.decodeImage(input, this.#decodeOptions(index, context));
    try {
      const { dims, data, geometry } = await this.#transforms.run(image);
      this.place(index, context, { width: image.width, height: image.height, ...this.#tensorSize(dims), geometry });
      return this.#checked({ dtype: 'float32', dims, data });
    } finally {
      image.close();
    }
  }

  #decodeOptions(index: number, context: Context): DecodeOptions {
    return {
      exifOrientation: this.param('exifOrientation', index, context),
      background: this.param('background', index, context),
    };
  }

  /**
   * Returns a tensor that the caller passed in place of an image, without its batch axis, and places it as its own
   * image.
   */
  #placeTensor(input: TypedArrayInput, index: number, context: Context): Tensor {
    const given = tensor(input);
    const row = this.#checked(given.dims.length === 4 && given.dims[0] === 1 ? rowOf(given, 0) : given);
    const { tensorWidth, tensorHeight } = this.#tensorSize(row.dims);
    this.place(index, context, {
      width: tensorWidth,
      height: tensorHeight,
      tensorWidth,
      tensorHeight,
      geometry: { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 },
    });
    return row;
  }

  #tensorSize<T>(dims: readonly T[]): { readonly tensorWidth: T; readonly tensorHeight: T } {
    const [tensorHeight, tensorWidth] = (isChannelsLast(this.imageProcessing) ? dims : dims.slice(1)) as readonly [
      T,
      T,
    ];
    return { tensorWidth, tensorHeight };
  }

  /** Returns the width and height of the model's input, or undefined if the model does not fix them. */
  protected get fixedSize(): Pick<Rect, 'width' | 'height'> | undefined {
    const { tensorWidth: width, tensorHeight: height } = this.#tensorSize(this.#rowDims);
    return typeof width === 'number' && typeof height === 'number' ? { width, height } : undefined;
  }

  /**
   * Records where the image of row `index` lies in its tensor. If you override `preprocess`, call `place` for each row
   * whose result depends on the size of the image:
   * - `ObjectDetector` needs the placement. A row without one fails with `handler-failed`.
   * - `ImageSegmenter` can do without it. Without a placement the size of the image is unknown, so the result has the
   *   size of the model's map, also with `size: 'original'`.
   *
   * If the tensor has the same pixels as the image, the placement is `{ width, height, tensorWidth: width,
   * tensorHeight: height, geometry: { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 } }`.
   */
  protected place(index: number, context: Context, placement: Placement): void {
    const placements = this.#placements.get(context) ?? [];
    placements[index] = placement;
    this.#placements.set(context, placements);
  }

  /**
   * Returns where the image of row `index` lies in its tensor, or undefined if `preprocess` did not record it. Use it
   * in `postprocess` to convert results to pixels of the image. If the row is a tensor, the tensor counts as the image.
   */
  protected placement(index: number, context: Context): Placement | undefined {
    return this.#placements.get(context)?.[index];
  }

  /**
   * Returns the placement of row `index`, for a `postprocess` that needs one.
   * @throws `handler-failed` if an overriding `preprocess` did not call `place` for this row
   */
  protected requirePlacement(index: number, context: Context): Placement {
    const placement = this.placement(index, context);
    if (placement) return placement;
    throw new TabServeError(
      'handler-failed',
      `${this.constructor.name} returns results in pixels of the image, but its preprocess did not record where the image of row ${index} lies in the tensor. Call this.place(index, context, placement) for each row in preprocess.`,
    );
  }

  #checked(row: Tensor): Tensor {
    if (this.#fits(row.dims)) return row;
    throw new TabServeError(
      'invalid-input',
      `The tensor of this image has the dims [${row.dims.join(', ')}], but the model's input expects ${this.#inputDims}. Resize the image, or change handler.imageProcessing.`,
    );
  }

  #toInputs(rows: readonly Tensor[]): Tensors {
    const { name, dtype } = this.inputInfo;
    const batch = stack(rows);
    const values = batch.data as Float32Array;
    if (dtype === 'float16') return { [name]: { ...batch, dtype, data: toFloat16(values) } };
    if (dtype === 'uint8')
      return { [name]: { ...batch, dtype, data: Uint8Array.from(Uint8ClampedArray.from(values)) } };
    if (dtype === 'int32') return { [name]: { ...batch, dtype, data: Int32Array.from(values, Math.round) } };
    return { [name]: batch };
  }
}

/** Returns whether the transforms produce tensors of layout NHWC. */
export function isChannelsLast(transforms: Transforms): boolean {
  return transforms.some((step) => 'layout' in step && step.layout === 'NHWC');
}

/** Returns whether the caller passed a tensor in place of an image. */
function isTensor(input: ImageInput): input is TypedArrayInput {
  return typeof input === 'object' && input !== null && 'dims' in input && input.data instanceof Float32Array;
}

/** Returns whether two rows have the same dims. A failed row, which is undefined, matches every row. */
function hasSameDims(row: Tensor | undefined, first: Tensor | undefined): boolean {
  return row === undefined || row.dims.join() === first?.dims.join();
}

import type { Context, ResultOf } from '../contract/handler.js';
import type { DecodeOptions, ImageInput, Rect } from '../contract/images.js';
import type { Tensor, Tensors, TypedArrayInput } from '../contract/tensors.js';
import { asTabServeError, TabServeError, type PredictionError } from '../contract/errors.js';
import { from as tensor, row as rowOf } from '../tensors/tensors.js';
import {
  compileTransforms,
  compose,
  parseTransforms,
  toTensor,
  type CompiledTransforms,
  type Transforms,
} from '../transforms/index.js';
import { BaseHandler } from './base-handler.js';
import type { ImageExplanation } from '../outputs/explanation.js';
import { drawExamplePicture } from './example-picture.js';
import type { ClassScores } from './explain/images.js';
import { IMAGE_EXPLAIN_SCHEMA, type ImageExplainParams } from './explain/options.js';
import { ImageTensorInput } from './image-tensor-input.js';
import { Placements, type Placement } from './placements.js';
import type { ConfigSchema } from '../shared/schema.js';
import { rowContext, unwrap, type Row } from './row.js';
import { VISION_SCHEMA, type VisionParams } from './vision-params.js';

/** The side of the example pictures, in pixels. */
const EXAMPLE_SIZE = 256;

/** The amount of texture and shapes in each example picture, in 0..1. The first picture is a smooth gradient. */
const EXAMPLE_DETAILS: readonly number[] = [0, 0.4, 1];

/**
 * Decodes images, upright and without alpha, and converts them to the model's tensor with `imageProcessing`.
 * If an image cannot be decoded, only its row fails. If the tensors of a batch differ in size, the rows run one by one.
 */
export class VisionHandler extends BaseHandler<ImageInput> {
  declare readonly paramsType?: VisionParams;

  static override readonly schema: ConfigSchema = VISION_SCHEMA;

  declare readonly explainParamsType?: ImageExplainParams;

  static override readonly explainSchema: ConfigSchema = IMAGE_EXPLAIN_SCHEMA;

  /** The steps that convert pixels to the tensor. An archive's `handler.imageProcessing` replaces them. */
  imageProcessing: Transforms = compose(toTensor());
  #transforms!: CompiledTransforms;
  readonly #placements = new Placements();
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
    if (this.#preprocessesImages) this.#input.checkTransforms(this.#transforms);
  }

  /**
   * Returns whether `preprocess` is this class's. If a subclass overrides it, `imageProcessing` need not fit the model.
   */
  get #preprocessesImages(): boolean {
    return (this.constructor as typeof VisionHandler).prototype.preprocess === VisionHandler.prototype.preprocess;
  }

  get #input(): ImageTensorInput {
    return new ImageTensorInput(this.inputInfo, this.imageProcessing, this.model.inputs);
  }

  /**
   * Returns the tensor of a black image. It runs the transforms, so the browser compiles them before the first request.
   */
  override async example(context: Context): Promise<Tensors | undefined> {
    if (!this.#canUseExamples) return await super.example(context);
    return await this.#tensorsOf(new Uint8Array(this.exampleSize * this.exampleSize * 3));
  }

  /** Returns the side of the example pictures, in pixels. */
  protected get exampleSize(): number {
    return EXAMPLE_SIZE;
  }

  /**
   * Returns the tensors of drawn pictures that have the features of photographs: soft light, colors, texture and edges.
   * The list is empty if a subclass overrides `preprocess`.
   */
  async examples(_context: Context): Promise<readonly Tensors[]> {
    if (!this.#canUseExamples) return [];
    const pictures = EXAMPLE_DETAILS.map((detail, index) => drawExamplePicture(index + 1, this.exampleSize, detail));
    return await Promise.all(pictures.map((picture) => this.#tensorsOf(picture)));
  }

  get #canUseExamples(): boolean {
    return (
      this.#preprocessesImages && this.#input.fits(this.#transforms.outputDims(this.exampleSize, this.exampleSize))
    );
  }

  /** Runs the transforms on a picture. @param picture 8-bit RGB, `exampleSize` wide and high */
  async #tensorsOf(picture: Uint8Array): Promise<Tensors> {
    const [width, height] = [this.exampleSize, this.exampleSize];
    const { dims, data } = await this.#transforms.run({
      format: 'RGB',
      width,
      height,
      stride: width * 3,
      data: picture,
    });
    return this.#input.stack([{ dtype: 'float32', dims, data }]);
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
    return this.#input.stack(
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
      const { width, height } = image;
      this.place(index, context, { width, height, ...this.#input.sizeOf(dims), geometry });
      return this.checkRow({ dtype: 'float32', dims, data });
    } finally {
      image.close();
    }
  }

  /**
   * Returns the tensor of one image, without its batch axis. A subclass whose `inference` takes other sizes overrides it.
   * @throws `invalid-input` if its dims do not fit the model's input
   */
  protected checkRow(row: Tensor): Tensor {
    return this.#input.checked(row);
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
    const row = this.checkRow(given.dims.length === 4 && given.dims[0] === 1 ? rowOf(given, 0) : given);
    const { tensorWidth, tensorHeight } = this.#input.sizeOf(row.dims);
    const geometry = { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 };
    this.place(index, context, { width: tensorWidth, height: tensorHeight, tensorWidth, tensorHeight, geometry });
    return row;
  }

  /**
   * Explains the model's answer to each row by the scores of its classes, with the method that the request names:
   * `occlusion` or `rise`. `getInsights` of a subclass calls it with a function that converts the model's outputs to
   * scores. A row whose options do not fit fails alone.
   */
  protected async explainImages(inputs: Tensors, context: Context, scores: ClassScores): Promise<ImageExplanation[]> {
    const { explainImages } = await import('./explain/images.js');
    const explanations = await explainImages(
      {
        input: this.#input,
        inputName: this.inputInfo.name,
        imageProcessing: this.imageProcessing,
        labels: this.mapping,
        scores,
        inference: (variants, rows) => this.inference(variants, rows),
        placement: (index, rows) => this.placement(index, rows),
      },
      inputs,
      context,
    );
    // A row that has failed gets its error in `handle`.
    return explanations as ImageExplanation[];
  }

  /** Returns the width and height of the model's input, or undefined if the model does not fix them. */
  protected get fixedSize(): Pick<Rect, 'width' | 'height'> | undefined {
    const { width, height } = this.#input.size;
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
    this.#placements.set(index, context, placement);
  }

  /**
   * Returns where the image of row `index` lies in its tensor, or undefined if `preprocess` did not record it. Use it
   * in `postprocess` to convert results to pixels of the image. If the row is a tensor, the tensor counts as the image.
   */
  protected placement(index: number, context: Context): Placement | undefined {
    return this.#placements.get(index, context);
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
}

/** Returns whether the caller passed a tensor in place of an image. */
function isTensor(input: ImageInput): input is TypedArrayInput {
  return typeof input === 'object' && input !== null && 'dims' in input && input.data instanceof Float32Array;
}

/** Returns whether two rows have the same dims. A failed row, which is undefined, matches every row. */
function hasSameDims(row: Tensor | undefined, first: Tensor | undefined): boolean {
  return row === undefined || row.dims.join() === first?.dims.join();
}

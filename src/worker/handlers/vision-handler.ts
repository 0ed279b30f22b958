import { loadScript } from '../../shared/load-script.js';
import type { Context, InputKind } from '../../contract/handler.js';
import type { HuggingFaceTask } from '../../contract/hugging-face-task.js';
import type { DecodedImage, ImageInput, Rect } from '../../contract/images.js';
import type { Tensor, TensorInfo, Tensors, TypedArrayInput } from '../../contract/tensors.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import { compose, parseTransforms, toTensor, type Transforms } from '../transforms/index.js';
import { BaseHandler } from './base-handler.js';
import type { ImageExplanation } from '../outputs/explanation.js';
import { drawExamplePictures } from './example-picture.js';
import { ImagesAhead, ImageTensorInput, isTensorInput } from './image-input.js';
import { ImageTensors } from './image-tensors.js';
import { isFilled } from './other-inputs.js';
import { EXPLAINERS } from './registry.js';
import type { ClassScores, ImageExplainParams } from './explain.js';
import { declareStandard, isStandard } from './handler-contract.js';
import { Placements, type Placement } from './placements.js';
import type { ConfigSchema } from '../../shared/schema.js';
import { unwrap, type Row } from './row.js';
import type { VisionConfig, VisionParams } from './vision-params.js';
import { IMAGE_EXPLAIN_PARAMS_SCHEMA, VISION_HANDLER_SCHEMA } from './schemas.js';

/** The side of the example pictures, in pixels. */
const EXAMPLE_SIZE = 256;

/**
 * Decodes images, upright and without alpha, and converts them to the model's tensor with `imageProcessing`.
 * If an image cannot be decoded, only its row fails. If the tensors of a batch differ in size, the rows run one by one.
 * @answer the model's outputs: tensors by name
 */
export class VisionHandler<Result = Tensors, Explanation = unknown> extends BaseHandler<
  ImageInput,
  Result,
  Explanation
> {
  declare readonly paramsType?: VisionParams;

  static override readonly takes: InputKind = 'image';
  static override readonly huggingFace: HuggingFaceTask = { processor: 'image' };
  declare readonly configType?: VisionConfig;
  static override readonly schema: ConfigSchema = VISION_HANDLER_SCHEMA;

  declare readonly explainParamsType?: ImageExplainParams;

  static override readonly explainSchema: ConfigSchema = IMAGE_EXPLAIN_PARAMS_SCHEMA;

  /** The steps that convert pixels to the tensor. An archive's `handler.imageProcessing` replaces them. */
  imageProcessing: Transforms = compose(toTensor());
  #tensors!: ImageTensors;
  readonly #placements = new Placements();

  /**
   * Opens the model and compiles the transforms.
   * @throws `model-config` if the transforms produce a tensor that does not fit the model's input
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    if (this.config['inputName'] === undefined)
      this.inputInfo = this.#imageInputs.find((input) => !isFilled(input, this.fillsSizes)) ?? this.inputInfo;
    const configured = this.config['imageProcessing'];
    if (configured !== undefined) this.imageProcessing = parseTransforms(configured);
    this.#tensors = new ImageTensors(() => this.#input, this.imageProcessing, this.knowsPadding);
    // For a `preprocess` that makes something else, `imageProcessing` need not fit the model.
    if (isStandard(this.preprocess)) this.#tensors.check();
    if (this.#passesTensorsOn) this.#tensors.useGpu(this.model, this.inputInfo, context);
  }

  static {
    declareStandard(this.prototype.preprocess, this.prototype.checkRow);
  }

  /** Returns whether nothing but the model reads the numbers of `preprocess`'s tensors. */
  get #passesTensorsOn(): boolean {
    return isStandard(this.preprocess) && isStandard(this.checkRow) && this.onlyRunsModel;
  }

  /**
   * Whether the model's inputs for the size of a photo (`orig_target_sizes`, `im_shape`, `scale_factor`) are filled with
   * the tensor's, so that the model returns boxes in pixels of the tensor. Such boxes `postprocess` maps to the image.
   */
  protected get fillsSizes(): boolean {
    return false;
  }

  /** Whether the model's answer is about the image alone, if `padTensor` has padded it right and below. */
  protected get knowsPadding(): boolean {
    return this.#input.hasPixelMask;
  }

  /** The model's inputs that a subclass fills itself, in `inference`, by their names. */
  protected get ownInputs(): readonly string[] {
    return [];
  }

  get #imageInputs(): readonly TensorInfo[] {
    return this.model.inputs.filter(({ name }) => !this.ownInputs.includes(name));
  }

  get #input(): ImageTensorInput {
    return new ImageTensorInput(this.inputInfo, this.imageProcessing, this.#imageInputs, this.fillsSizes);
  }

  /**
   * Returns the tensor of a black image. It runs the transforms, so the browser compiles them before the first request.
   */
  override async example(context: Context): Promise<Tensors | undefined> {
    if (!this.#canUseExamples) return await super.example(context);
    const side = this.exampleSize;
    return await this.#tensors.ofPicture(new Uint8Array(side * side * 3), side);
  }

  /** Returns the side of the example pictures, in pixels. */
  protected get exampleSize(): number {
    return EXAMPLE_SIZE;
  }

  /**
   * Returns the tensors of generated pictures that have the features of photographs: soft light, colors, texture and
   * edges. The list is empty if a subclass overrides `preprocess`.
   */
  async examples(_context: Context): Promise<readonly Tensors[]> {
    if (!this.#canUseExamples) return [];
    const side = this.exampleSize;
    return await Promise.all(drawExamplePictures(side).map((picture) => this.#tensors.ofPicture(picture, side)));
  }

  get #canUseExamples(): boolean {
    return isStandard(this.preprocess) && this.#tensors.takesPictures(this.exampleSize);
  }

  protected override async begin(context: Context): Promise<(() => void) | undefined> {
    return await this.#tensors.begin(context);
  }

  /**
   * Converts images to the model's input, `[rows, …]`.
   * @throws `invalid-input` if the tensors differ in size; the worker then runs each row alone
   */
  override async preprocess(data: readonly Row<ImageInput>[], context: Context): Promise<Tensors> {
    const inputs = data.map(unwrap);
    const images = new ImagesAhead(inputs.length, (index) => {
      const input = inputs[index]!;
      return isTensorInput(input) ? undefined : this.decode(input, index, context);
    });
    const rows: (Tensor | undefined)[] = [];
    let firstRow: Tensor | undefined;
    try {
      for (const [index, input] of inputs.entries()) {
        try {
          const image = await images.take(index);
          rows[index] = image
            ? await this.#toTensor(image, index, context)
            : this.#placeTensor(input as TypedArrayInput, index, context);
        } catch (error) {
          context.fail(index, asTabServeError(error, 'preprocess'));
        }
        firstRow ??= rows[index];
        if (!hasSameDims(rows[index], firstRow))
          throw new TabServeError(
            'invalid-input',
            `The tensors of this batch differ in size: [${firstRow!.dims.join(', ')}] and [${rows[index]!.dims.join(', ')}]. Resize the images to one size.`,
          );
      }
    } finally {
      images.close();
    }
    if (!firstRow) return {};
    let blank: Tensor | undefined;
    return this.#input.stack(
      Array.from(
        { length: data.length },
        (_, index) => rows[index] ?? (blank ??= { ...firstRow, data: new Float32Array(firstRow.data.length) }),
      ),
      data.map((_, index) => this.placement(index, context)?.content),
    );
  }

  /** Opens the image of row `index`. */
  protected async decode(input: ImageInput, index: number, context: Context): Promise<DecodedImage> {
    return await context.decodeImage(input, {
      exifOrientation: this.param('exifOrientation', index, context),
      background: this.param('background', index, context),
    });
  }

  async #toTensor(image: DecodedImage, index: number, context: Context): Promise<Tensor> {
    try {
      const { tensor, placement } = await this.#tensors.of(image, context);
      this.place(index, context, placement);
      await this.keep(image, index, context);
      return this.checkRow(tensor);
    } finally {
      image.close();
    }
  }

  /** Keeps of an image what its result needs: it is closed afterwards. A subclass overrides it. */
  protected keep(_image: DecodedImage, _index: number, _context: Context): void | Promise<void> {}

  /**
   * Returns the tensor of one image, without its batch axis. A subclass whose `inference` takes other sizes overrides
   * it.
   * @throws `invalid-input` if its dims do not fit the model's input
   */
  protected checkRow(row: Tensor): Tensor {
    return this.#input.checked(row);
  }

  /** Returns a tensor that the caller passed instead of an image, and places it as its own image. */
  #placeTensor(input: TypedArrayInput, index: number, context: Context): Tensor {
    const { tensor, placement } = this.#tensors.ofTensor(input, (row) => this.checkRow(row));
    this.place(index, context, placement);
    return tensor;
  }

  /**
   * Explains the model's answer to each row by the scores of its classes, with the method that the request names:
   * `occlusion` or `rise`. `getInsights` of a subclass calls it with a function that converts the model's outputs to
   * scores. A row whose options do not fit fails alone.
   */
  protected async explainImages(inputs: Tensors, context: Context, scores: ClassScores): Promise<ImageExplanation[]> {
    const explainImages = await loadScript(EXPLAINERS.images);
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
    return this.#placements.require(index, context, this.constructor.name);
  }
}

/** Returns whether two rows have the same dims. A failed row, which is undefined, matches every row. */
function hasSameDims(row: Tensor | undefined, first: Tensor | undefined): boolean {
  return row === undefined || row.dims.join() === first?.dims.join();
}

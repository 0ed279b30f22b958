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

/** What a model may take its images as. */
const PIXEL_DTYPES: readonly DType[] = ['float32', 'float16', 'uint8', 'int32'];

/** Side of the example pictures, in pixels. */
const EXAMPLE_SIZE = 256;

/** How much texture and how many shapes each example picture has; the first is a smooth gradient. */
const EXAMPLE_DETAILS: readonly number[] = [0, 0.4, 1];

/** One image of a batch: its upright size in pixels, the tensor's, and how points of the one lie in the other. */
export interface Placement {
  readonly width: number;
  readonly height: number;
  readonly tensorWidth: number;
  readonly tensorHeight: number;
  readonly geometry: Geometry;
}

/** The `params` of every handler of images. */
export interface VisionParams {
  /** Whether photos are turned upright by their EXIF tag. */
  readonly exifOrientation?: boolean;
  /** The color that shows through transparent pixels: red, green and blue, each 0 to 255. */
  readonly background?: readonly [red: number, green: number, blue: number];
}

/**
 * Images in: decodes each row, upright and without alpha, and makes the model's tensor with `imageProcessing`.
 * A row that cannot be decoded fails alone. Images whose tensors differ in size are run one by one.
 */
export class VisionHandler extends BaseHandler<ImageInput> {
  declare readonly paramsType?: VisionParams;

  static override readonly schema: ConfigSchema = {
    // The steps are checked where they are read: parseTransforms knows their order too.
    imageProcessing: {
      type: 'array',
      readOnly: true,
      description: 'The steps from pixels to tensor, in their order. Default: the handler’s own.',
    },
    exifOrientation: { type: 'boolean', description: 'Turns photos upright by their EXIF tag.', default: true },
    background: {
      type: 'array',
      items: { type: 'integer', minimum: 0, maximum: 255 },
      minItems: 3,
      maxItems: 3,
      description: 'The color, [red, green, blue] in 0..255, that shows through transparent pixels.',
      default: [255, 255, 255],
    },
    maxImagePixels: {
      type: 'integer',
      minimum: 1,
      readOnly: true,
      description: 'An image of more pixels fails with image-too-large. Default 178956970.',
    },
  };

  /** From pixels to tensor. An archive's `handler.imageProcessing` is taken over it. */
  imageProcessing: Transforms = compose(toTensor());
  #plan!: CompiledTransforms;
  /** What belongs to a batch goes with its context. */
  readonly #placements = new WeakMap<Context, Placement[]>();
  /** Batches that are no one tensor. */
  readonly #mixed = new WeakSet<Context>();

  /** @throws `model-config` if the transforms make another tensor than the model takes */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const configured = this.config['imageProcessing'];
    if (configured !== undefined) this.imageProcessing = parseTransforms(configured);
    this.#plan = compileTransforms(this.imageProcessing);
    if (this.#preprocessesImages) this.#checkFit();
  }

  /** False in a subclass that makes its tensors in a way of its own: then `imageProcessing` need not fit the model. */
  get #preprocessesImages(): boolean {
    return (this.constructor as typeof VisionHandler).prototype.preprocess === VisionHandler.prototype.preprocess;
  }

  /** Dims that do not depend on the image can be held against the model's at once. */
  #checkFit(): void {
    const { name, dtype } = this.inputInfo;
    if (!PIXEL_DTYPES.includes(dtype))
      throw new TabServeError(
        'model-config',
        `handler.inputName: images are fed as ${PIXEL_DTYPES.join(', ')}; the model's "${name}" is ${dtype}.`,
      );
    const [made, other] = [this.#plan.outputDims(640, 480), this.#plan.outputDims(481, 641)] as const;
    const known = made.map((size, axis) => (size === other[axis] ? size : undefined));
    if (this.#fits(known)) return;
    const got = ['batch', ...known.map((size) => size ?? '?')].join(', ');
    throw new TabServeError(
      'model-config',
      `handler.imageProcessing makes [${got}], but the model's input expects ${this.#expected}.`,
    );
  }

  /** Dims of the model's input without its batch axis, which a model of one image may lack. */
  get #rowDims(): TensorInfo['dims'] {
    const { dims } = this.inputInfo;
    return dims.length === 3 ? dims : dims.slice(1);
  }

  /** Whether a row of these dims fits the model; an undefined size fits every one. */
  #fits(dims: readonly (number | undefined)[]): boolean {
    const expected = this.#rowDims;
    return (
      dims.length === expected.length &&
      dims.every((size, axis) => size === undefined || typeof expected[axis] !== 'number' || expected[axis] === size)
    );
  }

  get #expected(): string {
    return `[${this.inputInfo.dims.map((size) => size ?? '?').join(', ')}]`;
  }

  /** A black image, through the transforms: their code is compiled before the first request too. */
  override async example(context: Context): Promise<Tensors | undefined> {
    if (!this.#takesExamples) return await super.example(context);
    return await this.#exampleOf(new Uint8Array(EXAMPLE_SIZE * EXAMPLE_SIZE * 3));
  }

  /** Pictures with what photographs have (soft light, colors, texture, edges), through the transforms; none if `preprocess` is overridden. */
  async examples(_context: Context): Promise<readonly Tensors[]> {
    if (!this.#takesExamples) return [];
    const pictures = EXAMPLE_DETAILS.map((detail, index) => drawExamplePicture(index + 1, EXAMPLE_SIZE, detail));
    return await Promise.all(pictures.map((picture) => this.#exampleOf(picture)));
  }

  get #takesExamples(): boolean {
    return this.#preprocessesImages && this.#fits(this.#plan.outputDims(EXAMPLE_SIZE, EXAMPLE_SIZE));
  }

  /** @param picture 8-bit RGB, `EXAMPLE_SIZE` wide and high */
  async #exampleOf(picture: Uint8Array): Promise<Tensors> {
    const [width, height] = [EXAMPLE_SIZE, EXAMPLE_SIZE];
    const { dims, data } = await this.#plan.run({ format: 'RGB', width, height, stride: width * 3, data: picture });
    return this.#feeds([{ dtype: 'float32', dims, data }]);
  }

  /** The whole way of a batch; where its images make tensors of different sizes, of each row alone. */
  override async handle(
    data: readonly Row<ImageInput>[],
    context: Context,
  ): Promise<readonly (ResultOf<this> | PredictionError)[]> {
    try {
      return await super.handle(data, context);
    } catch (error) {
      if (!this.#mixed.has(context)) throw error;
    }
    const results: (ResultOf<this> | PredictionError)[] = [];
    for (const [index, item] of data.entries())
      results.push(...(await super.handle([item], rowContext(context, index))));
    return results;
  }

  /** Images → the model's input, `[rows, …]`. @throws `invalid-input` if they make tensors of different sizes: `handle` then runs each alone */
  override async preprocess(data: readonly Row<ImageInput>[], context: Context): Promise<Tensors> {
    const rows: (Tensor | undefined)[] = [];
    let good: Tensor | undefined;
    for (const [index, item] of data.entries()) {
      try {
        rows[index] = await this.#toTensor(unwrap(item), index, context);
      } catch (error) {
        context.fail(index, asTabServeError(error, 'preprocess'));
      }
      good ??= rows[index];
      if (!isAlike(rows[index], good)) {
        this.#mixed.add(context);
        throw new TabServeError(
          'invalid-input',
          `The images of this batch make tensors [${good!.dims.join(', ')}] and [${rows[index]!.dims.join(', ')}].`,
        );
      }
    }
    if (!good) return {};
    let blank: Tensor | undefined;
    return this.#feeds(
      Array.from(
        { length: data.length },
        (_, index) => rows[index] ?? (blank ??= { ...good, data: new Float32Array(good.data.length) }),
      ),
    );
  }

  async #toTensor(input: ImageInput, index: number, context: Context): Promise<Tensor> {
    if (isReady(input)) return this.#ready(input, index, context);
    const image = await context.decodeImage(input, this.#decoding(index, context));
    try {
      const { dims, data, geometry } = await this.#plan.run(image);
      this.place(index, context, { width: image.width, height: image.height, ...this.#tensorSize(dims), geometry });
      return this.#checked({ dtype: 'float32', dims, data });
    } finally {
      image.close();
    }
  }

  #decoding(index: number, context: Context): DecodeOptions {
    return {
      exifOrientation: this.param('exifOrientation', index, context),
      background: this.param('background', index, context),
    };
  }

  /** A tensor that the caller has made passes as it is, without its batch axis. */
  #ready(input: TypedArrayInput, index: number, context: Context): Tensor {
    const made = tensor(input);
    const row = this.#checked(made.dims.length === 4 && made.dims[0] === 1 ? rowOf(made, 0) : made);
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

  /** Width and height of the model's input, where the model fixes them. */
  protected get fixedSize(): Pick<Rect, 'width' | 'height'> | undefined {
    const { tensorWidth: width, tensorHeight: height } = this.#tensorSize(this.#rowDims);
    return typeof width === 'number' && typeof height === 'number' ? { width, height } : undefined;
  }

  /**
   * Says where the image of row `index` lies in its tensor. A `preprocess` of your own calls it for each row, if `postprocess` is to answer in pixels of
   * the image, as ObjectDetector does; ImageSegmenter answers in the size of its own map without one. Where the tensor has the image's own pixels: `{ width, height, tensorWidth: width,
   * tensorHeight: height, geometry: { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 } }`.
   */
  protected place(index: number, context: Context, placement: Placement): void {
    const placements = this.#placements.get(context) ?? [];
    placements[index] = placement;
    this.#placements.set(context, placements);
  }

  /** Where the image of row `index` lies in its tensor, for a `postprocess` that answers in the image's own pixels. A ready tensor is its own image. */
  protected placement(index: number, context: Context): Placement | undefined {
    return this.#placements.get(context)?.[index];
  }

  /**
   * The placement of row `index`, for a `postprocess` that cannot do without it.
   * @throws `handler-failed` if a `preprocess` of your own has not called `place` for this row
   */
  protected requirePlacement(index: number, context: Context): Placement {
    const placement = this.placement(index, context);
    if (placement) return placement;
    throw new TabServeError(
      'handler-failed',
      `${this.constructor.name} answers in pixels of the image, but its preprocess has not said where the image of row ${index} lies in its tensor. Call this.place(index, context, placement) for each row in preprocess.`,
    );
  }

  #checked(row: Tensor): Tensor {
    if (this.#fits(row.dims)) return row;
    throw new TabServeError(
      'invalid-input',
      `This image makes a tensor [${row.dims.join(', ')}], but the model's input expects ${this.#expected}.`,
    );
  }

  #feeds(rows: readonly Tensor[]): Tensors {
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

/** Whether the transforms make tensors of layout NHWC. */
export function isChannelsLast(transforms: Transforms): boolean {
  return transforms.some((step) => 'layout' in step && step.layout === 'NHWC');
}

function isReady(input: ImageInput): input is TypedArrayInput {
  return typeof input === 'object' && input !== null && 'dims' in input && input.data instanceof Float32Array;
}

/** A row that has failed is like any. */
function isAlike(row: Tensor | undefined, first: Tensor | undefined): boolean {
  return row === undefined || row.dims.join() === first?.dims.join();
}

import { TabServeError } from '../../contract/errors.js';
import type { DecodedImage, ImageInput } from '../../contract/images.js';
import type { DType, Tensor, TensorInfo, Tensors, TypedArrayInput } from '../../contract/tensors.js';
import { stack } from '../tensors/tensors.js';
import type { CompiledTransforms, Transforms } from '../transforms/index.js';
import { tensorForm } from '../transforms/tensor.js';
import { toFloat16 } from '../tensors/float16.js';
import { filled, isFilled, PIXEL_MASK, SIZE_NAMES, type BatchSize } from './other-inputs.js';

/** The dtypes that a model's input for images may have. */
const PIXEL_DTYPES: readonly DType[] = ['float32', 'float16', 'uint8', 'int32'];

/** The minimum number of different values that the 256 values of a pixel become in an integer input. */
const MIN_NUMBERS = 32;

/** A size, or the name or null that a model declares for a dynamic size: see `TensorInfo`. */
type DimSize = TensorInfo['dims'][number];

/** The model's input for images: whether a tensor fits it, and the conversion of tensors to it. */
export class ImageTensorInput {
  readonly #info: TensorInfo;
  /** Whether the layout is NHWC. */
  readonly isChannelsLast: boolean;
  /** The inputs beside it: those that are filled, and those that nothing fills. */
  readonly #filled: readonly TensorInfo[];
  readonly #unfilled: readonly TensorInfo[];

  /**
   * @param inputs all inputs of the model
   * @param withSizes whether inputs for the size of a photo are filled, too
   */
  constructor(info: TensorInfo, transforms: Transforms, inputs: readonly TensorInfo[] = [], withSizes = false) {
    this.#info = info;
    const others = inputs.filter(({ name }) => name !== info.name);
    this.#filled = others.filter((input) => isFilled(input, withSizes));
    this.#unfilled = others.filter((input) => !isFilled(input, withSizes));
    this.isChannelsLast = isChannelsLast(transforms);
  }

  /** The width and height; a dynamic size is a name or null. */
  get size(): { readonly width: DimSize; readonly height: DimSize } {
    const { tensorWidth, tensorHeight } = this.sizeOf(this.#rowDims);
    return { width: tensorWidth, height: tensorHeight };
  }

  /** Returns the width and height among the dims of a row. */
  sizeOf<T>(dims: readonly T[]): { readonly tensorWidth: T; readonly tensorHeight: T } {
    const [tensorHeight, tensorWidth] = (this.isChannelsLast ? dims : dims.slice(1)) as readonly [T, T];
    return { tensorWidth, tensorHeight };
  }

  /** Returns whether a row of these dims fits. An undefined size fits every size. */
  fits(dims: readonly (number | undefined)[]): boolean {
    const expected = this.#rowDims;
    return (
      dims.length === expected.length &&
      dims.every((size, axis) => size === undefined || typeof expected[axis] !== 'number' || expected[axis] === size)
    );
  }

  /**
   * Compares the dims of the transforms' tensor with the dims of the model's input. It ignores dims that depend on the
   * image: the dims that differ between the tensors of two images of different sizes.
   * @throws `model-config` if they do not fit, if the input's dtype cannot hold the pixels, or if nothing fills another
   *   input
   */
  checkTransforms(transforms: CompiledTransforms): void {
    const { name, dtype } = this.#info;
    if (!PIXEL_DTYPES.includes(dtype))
      throw new TabServeError(
        'model-config',
        `handler.inputName: the model's input for images must be ${PIXEL_DTYPES.join(', ')}, but "${name}" is ${dtype}. Name another input.`,
      );
    this.#checkRange(transforms);
    this.#checkOthers();
    const [dims, otherDims] = [transforms.outputDims(640, 480), transforms.outputDims(481, 641)] as const;
    const fixed = dims.map((size, axis) => (size === otherDims[axis] ? size : undefined));
    if (this.fits(fixed)) return;
    const produced = ['batch', ...fixed.map((size) => size ?? '?')].join(', ');
    throw new TabServeError(
      'model-config',
      `handler.imageProcessing produces [${produced}], but the model's input expects ${this.#dims}. Change the size, channels or layout in the steps.`,
    );
  }

  /** @throws `model-config` if an integer input would get the same number for most values of a pixel */
  #checkRange({ transforms }: CompiledTransforms): void {
    const { name, dtype } = this.#info;
    if (dtype !== 'uint8' && dtype !== 'int32') return;
    for (const table of tensorForm(transforms).tables) {
      const numbers = dtype === 'uint8' ? Uint8ClampedArray.from(table) : Int32Array.from(table, Math.round);
      if (new Set(numbers).size >= MIN_NUMBERS) continue;
      const [least, most] = [Math.min(...table), Math.max(...table)].map((value) => Number(value.toPrecision(3)));
      throw new TabServeError(
        'model-config',
        `handler.imageProcessing produces numbers in ${least}..${most}, but the model's input "${name}" is ${dtype}, in which most of a pixel's 256 values would be the same. Use toTensor: 1 for 0..255, without normalize, or export the model with a float32 input.`,
      );
    }
  }

  /** @throws `model-config` if the model has an input that nothing fills */
  #checkOthers(): void {
    if (this.#unfilled.length === 0) return;
    const list = this.#unfilled.map(
      ({ name, dtype, dims }) => `"${name}" ${dtype} [${dims.map((size) => size ?? '?').join(', ')}]`,
    );
    throw new TabServeError(
      'model-config',
      `A handler of images fills "${this.#info.name}" and "${PIXEL_MASK}", object_detector also "${SIZE_NAMES.join('", "')}" of [batch, 2]; nothing fills this model's ${list.join(', ')}. Export the model without it, so that the graph has it as a constant, or add it in a handler of your own: override preprocess.`,
    );
  }

  /** Returns the tensor of a row. @throws `invalid-input` if it does not fit */
  checked(row: Tensor): Tensor {
    if (this.fits(row.dims)) return row;
    throw new TabServeError(
      'invalid-input',
      `The tensor of this image has the dims [${row.dims.join(', ')}], but the model's input expects ${this.#dims}. Resize the image, or change handler.imageProcessing.`,
    );
  }

  /** Whether the model is told which pixels are padding. */
  get hasPixelMask(): boolean {
    return this.#filled.some(({ name }) => name === PIXEL_MASK);
  }

  /**
   * Stacks the float32 tensors of rows to the model's input, and converts them to its dtype. Integers are rounded.
   * @param contents of each row, the part at the top left that is the image's, if the rest is padding
   */
  stack(rows: readonly Tensor[], contents: BatchSize['contents'] = []): Tensors {
    const images = this.stackImages(rows);
    const { tensorWidth: width, tensorHeight: height } = this.sizeOf(rows[0]!.dims);
    const size = { rows: rows.length, height, width, contents };
    return { ...images, ...Object.fromEntries(this.#filled.map((input) => [input.name, filled(input, size)])) };
  }

  /** Does what `stack` does, without the model's other inputs. */
  stackImages(rows: readonly Tensor[]): Tensors {
    const { name, dtype } = this.#info;
    const batch = stack(rows);
    if (dtype === 'float32') return { [name]: batch };
    const values = batch.data as Float32Array;
    if (dtype === 'float16') return { [name]: { ...batch, dtype, data: toFloat16(values) } };
    if (dtype === 'uint8')
      return { [name]: { ...batch, dtype, data: Uint8Array.from(Uint8ClampedArray.from(values)) } };
    return { [name]: { ...batch, dtype: 'int32', data: Int32Array.from(values, Math.round) } };
  }

  /** The dims without the batch axis. A model of three dims takes one image and has no batch axis. */
  get #rowDims(): TensorInfo['dims'] {
    const { dims } = this.#info;
    return dims.length === 3 ? dims : dims.slice(1);
  }

  get #dims(): string {
    return `[${this.#info.dims.map((size) => size ?? '?').join(', ')}]`;
  }
}

/** Returns whether the transforms produce tensors of layout NHWC. */
export function isChannelsLast(transforms: Transforms): boolean {
  return transforms.some((step) => 'layout' in step && step.layout === 'NHWC');
}

/** Returns whether the caller passed a tensor instead of an image. */
export function isTensorInput(input: ImageInput): input is TypedArrayInput {
  return typeof input === 'object' && input !== null && 'dims' in input && input.data instanceof Float32Array;
}

/**
 * The maximum number of images of a batch that are decoded at a time. A browser decodes each on a thread of its own; four of them
 * keep one worker busy, which transforms a photo in about a third of the time that it takes to decode it.
 */
const MAX_DECODING = 4;
/**
 * No further image is decoded ahead while those that are ready have this many pixels: a quarter of a gigabyte as RGBA.
 */
const MAX_PIXELS_AHEAD = 2 ** 26;

/** Decodes the images of a batch side by side, a few ahead of the one that is being transformed. */
export class ImagesAhead {
  readonly #decode: (index: number) => Promise<DecodedImage> | undefined;
  readonly #count: number;
  #next = 0;
  /** The images that have not been taken. */
  readonly #ahead = new Map<number, Promise<DecodedImage> | undefined>();
  /** The pixels of those that are decoded. */
  #pixels = 0;

  /** @param decode returns undefined for a row that needs no decoding */
  constructor(count: number, decode: (index: number) => Promise<DecodedImage> | undefined) {
    this.#count = count;
    this.#decode = decode;
  }

  /** Returns what `decode` returns for a row; the caller closes the image. Call it for each row once, in order. */
  take(index: number): Promise<DecodedImage> | undefined {
    while (this.#next < this.#count && (this.#next <= index || this.#hasRoom)) this.#start(this.#next++);
    const image = this.#ahead.get(index);
    this.#ahead.delete(index);
    void image?.then(
      ({ width, height }) => (this.#pixels -= width * height),
      () => {},
    );
    return image;
  }

  /** Closes the images that were not taken. */
  close(): void {
    this.#next = this.#count;
    for (const image of this.#ahead.values())
      void image?.then(
        (decoded) => decoded.close(),
        () => {},
      );
    this.#ahead.clear();
  }

  get #hasRoom(): boolean {
    return this.#ahead.size < MAX_DECODING && this.#pixels < MAX_PIXELS_AHEAD;
  }

  #start(index: number): void {
    const image = this.#decode(index);
    this.#ahead.set(index, image);
    // A failure is reported when the image is taken.
    void image?.then(
      ({ width, height }) => (this.#pixels += width * height),
      () => {},
    );
  }
}

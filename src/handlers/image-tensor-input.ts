import { TabServeError } from '../contract/errors.js';
import type { ImageInput } from '../contract/images.js';
import type { DType, Tensor, TensorInfo, Tensors, TypedArrayInput } from '../contract/tensors.js';
import { toFloat16 } from '../tensors/float16.js';
import { stack } from '../tensors/tensors.js';
import { PIXEL_MASK, pixelMask } from './pixel-mask.js';
import type { CompiledTransforms, Transforms } from '../transforms/index.js';

/** The dtypes that a model's input for images may have. */
const PIXEL_DTYPES: readonly DType[] = ['float32', 'float16', 'uint8', 'int32'];

/** A size, or the name or null that a model declares for a dynamic size: see `TensorInfo`. */
type DimSize = TensorInfo['dims'][number];

/** The model's input for images: whether a tensor fits it, and the conversion of tensors to it. */
export class ImageTensorInput {
  readonly #info: TensorInfo;
  /** Whether the layout is NHWC. */
  readonly isChannelsLast: boolean;
  readonly #mask: TensorInfo | undefined;

  /** @param inputs all inputs of the model: one that is called `pixel_mask` is filled too */
  constructor(info: TensorInfo, transforms: Transforms, inputs: readonly TensorInfo[] = []) {
    this.#info = info;
    this.#mask = inputs.find(({ name }) => name === PIXEL_MASK);
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
   * @throws `model-config` if they do not fit, or if the input's dtype cannot hold pixels
   */
  checkTransforms(transforms: CompiledTransforms): void {
    const { name, dtype } = this.#info;
    if (!PIXEL_DTYPES.includes(dtype))
      throw new TabServeError(
        'model-config',
        `handler.inputName: the model's input for images must be ${PIXEL_DTYPES.join(', ')}, but "${name}" is ${dtype}. Name another input.`,
      );
    const [dims, otherDims] = [transforms.outputDims(640, 480), transforms.outputDims(481, 641)] as const;
    const fixed = dims.map((size, axis) => (size === otherDims[axis] ? size : undefined));
    if (this.fits(fixed)) return;
    const produced = ['batch', ...fixed.map((size) => size ?? '?')].join(', ');
    throw new TabServeError(
      'model-config',
      `handler.imageProcessing produces [${produced}], but the model's input expects ${this.#dims}. Change the size, channels or layout in the steps.`,
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

  /** Stacks the float32 tensors of rows to the model's input, and converts them to its dtype. Integers are rounded. */
  stack(rows: readonly Tensor[]): Tensors {
    const images = this.stackImages(rows);
    if (!this.#mask) return images;
    const { tensorWidth, tensorHeight } = this.sizeOf(rows[0]!.dims);
    return { ...images, [PIXEL_MASK]: pixelMask(this.#mask, [rows.length, tensorHeight, tensorWidth]) };
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

/** Returns whether the caller passed a tensor in place of an image. */
export function isTensorInput(input: ImageInput): input is TypedArrayInput {
  return typeof input === 'object' && input !== null && 'dims' in input && input.data instanceof Float32Array;
}

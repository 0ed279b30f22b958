import type { Context } from '../../contract/handler.js';
import type { DecodedImage } from '../../contract/images.js';
import type { Session, Tensor, TensorInfo, Tensors, TypedArrayInput } from '../../contract/tensors.js';
import { from as tensor, row as rowOf } from '../tensors/tensors.js';
import { compileTransforms, type CompiledTransforms, type Transforms } from '../transforms/index.js';
import type { GpuImages } from './gpu-images.js';
import type { ImageTensorInput } from './image-input.js';
import { loadGpuImages } from './load-gpu-images.js';
import type { Placement } from './placements.js';

/** An image's tensor without its batch axis, and where the image lies in it. */
interface PlacedTensor {
  readonly tensor: Tensor;
  readonly placement: Placement;
}

/** Converts images to tensors by the steps of `imageProcessing`, on the CPU or on the model's GPU. */
export class ImageTensors {
  readonly #input: () => ImageTensorInput;
  readonly #transforms: CompiledTransforms;
  /** The transforms without the padding, if the model knows of it. Undefined if there is none. */
  readonly #unpadded: CompiledTransforms | undefined;
  /** Undefined if the CPU transforms all images. */
  #gpu: Promise<GpuImages | undefined> | undefined;

  /** @param input the model's input as it is now @param knowsPadding whether the model knows what `padTensor` has added */
  constructor(input: () => ImageTensorInput, steps: Transforms, knowsPadding: boolean) {
    this.#input = input;
    this.#transforms = compileTransforms(steps);
    if (knowsPadding && steps.some(isPadding))
      this.#unpadded = compileTransforms(steps.filter((step) => !isPadding(step)));
  }

  /** Checks that the transforms make what the model takes. @throws `model-config` */
  check(): void {
    this.#input().checkTransforms(this.#transforms);
  }

  /** Begins to prepare the transforms on the GPU that the model runs on, if it runs on one. */
  useGpu(model: Session, input: TensorInfo, context: Context): void {
    this.#gpu = loadGpuImages(model, input, this.#transforms, context);
  }

  /** Begins a batch. @returns what ends it, if the GPU transforms its images */
  async begin(context: Context): Promise<(() => void) | undefined> {
    return (await this.#gpu)?.begin(context);
  }

  /** Converts an open image. */
  async of(image: DecodedImage, context: Context): Promise<PlacedTensor> {
    const { tensor: made, geometry } = (await (await this.#gpu)?.run(image, context)) ?? (await this.#onCpu(image));
    const { width, height } = image;
    const placement = {
      width,
      height,
      ...this.#input().sizeOf(made.dims),
      geometry,
      ...this.#contentOf(width, height),
    };
    return { tensor: made, placement };
  }

  /** Returns a tensor that the caller passed in place of an image. It counts as its own image. */
  ofTensor(input: TypedArrayInput, check: (row: Tensor) => Tensor): PlacedTensor {
    const given = tensor(input);
    const row = check(given.dims.length === 4 && given.dims[0] === 1 ? rowOf(given, 0) : given);
    const { tensorWidth, tensorHeight } = this.#input().sizeOf(row.dims);
    const geometry = { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 };
    return {
      tensor: row,
      placement: { width: tensorWidth, height: tensorHeight, tensorWidth, tensorHeight, geometry },
    };
  }

  /** Returns whether the model takes square pictures with this side. */
  takesPictures(side: number): boolean {
    return this.#input().fits(this.#transforms.outputDims(side, side));
  }

  /** Returns the model's input for a picture. @param picture 8-bit RGB, `side` wide and high */
  async ofPicture(picture: Uint8Array, side: number): Promise<Tensors> {
    const image = { format: 'RGB', width: side, height: side, stride: side * 3, data: picture } as const;
    const { dims, data } = await this.#transforms.run(image);
    return this.#input().stack([{ dtype: 'float32', dims, data }]);
  }

  async #onCpu(image: DecodedImage): Promise<Pick<PlacedTensor, 'tensor'> & Pick<Placement, 'geometry'>> {
    const { dims, data, geometry } = await this.#transforms.run(image);
    return { tensor: { dtype: 'float32', dims, data }, geometry };
  }

  /** Returns which part of the tensor is the image's, if the model knows that the rest is padding. */
  #contentOf(width: number, height: number): Pick<Placement, 'content'> {
    if (!this.#unpadded) return {};
    const { tensorWidth, tensorHeight } = this.#input().sizeOf(this.#unpadded.outputDims(width, height));
    return { content: { width: tensorWidth, height: tensorHeight } };
  }
}

/** Returns whether a step pads the tensor right and below. */
function isPadding(step: Transforms[number]): boolean {
  return 'padTensor' in step && step.padTensor.position === 'top-left';
}

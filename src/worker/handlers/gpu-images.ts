/** Images that are transformed on the GPU that the model runs on: their tensors do not leave it. */
import { messageOf, TabServeError } from '../../contract/errors.js';
import type { Context } from '../../contract/handler.js';
import type { DecodedImage } from '../../contract/images.js';
import type { Metrics } from '../../contract/metrics.js';
import { GpuTensor } from '../tensors/gpu-tensor.js';
import type { ImageCrop } from '../transforms/crop-image.js';
import type { CompiledTransforms } from '../transforms/index.js';
import { compileGpuTransforms, type GpuRow, type GpuTransforms } from '../transforms/gpu/compile.js';
import { compare, noisePixels } from '../transforms/gpu/benchmark.js';

/** Transforming smaller images takes a CPU about as long as asking a GPU. */
const MIN_PIXELS = 2 ** 18;

/** How images reach the GPU, and about how many pixels they have. Images of one kind share a comparison. */
interface Kind {
  readonly name: string;
  /** A part of such an image, if only that is transformed. */
  readonly crop: ImageCrop | undefined;
  readonly isBitmap: boolean;
  readonly width: number;
  readonly height: number;
}

/** The tensor of an image, without its batch axis, and how its points relate to the image's. */
export interface GpuImage extends Pick<GpuRow, 'dims' | 'geometry'> {
  readonly tensor: GpuTensor;
}

/**
 * Decides which images the GPU transforms. The CPU transforms the first image of each kind. After its batch, both
 * transform a picture of noise of this size; if the GPU makes the same bytes in less time, it transforms the next
 * images of this kind.
 */
export class GpuImages {
  readonly #device: GPUDevice;
  readonly #cpu: CompiledTransforms;
  #gpu: GpuTransforms | undefined;
  #isGivenUp = false;
  /** Whether the GPU transforms the images of a kind, by its name. */
  readonly #choices = new Map<string, boolean>();
  #uncompared: Kind | undefined;
  #comparing: Promise<void> | undefined;
  /** Records the last comparison. */
  #record: ((metrics: Metrics) => void) | undefined;
  /** Transforms the images of one batch at a time on the GPU. */
  readonly #batches = new WeakMap<Context, GpuRow[]>();

  constructor(device: GPUDevice, transforms: CompiledTransforms) {
    this.#device = device;
    this.#cpu = transforms;
    void device.lost.then(() => this.#giveUp());
  }

  /**
   * Begins a batch whose images the GPU may transform: one image, whose tensor nothing but the model reads.
   * @returns the function that ends it
   */
  begin(context: Context): () => void {
    if (context.systemProperties.batchSize === 1 && context.kind === 'predict') this.#batches.set(context, []);
    return () => this.#end(context);
  }

  /** Transforms an image on the GPU. Its tensor is valid until the batch ends. @returns undefined if the CPU transforms it */
  async run(image: DecodedImage | ImageCrop, context: Context): Promise<GpuImage | undefined> {
    const rows = this.#batches.get(context);
    const { width, height } = 'source' in image ? image.source : image;
    if (!rows || this.#isGivenUp || width * height < MIN_PIXELS) return undefined;
    this.#record?.(context.metrics);
    this.#record = undefined;
    const kind = kindOf(image);
    const isFaster = this.#choices.get(kind.name);
    if (isFaster === undefined) this.#uncompared = kind;
    if (!isFaster) return undefined;
    try {
      const row = await this.#transforms.run(image);
      if (!row) return undefined;
      rows.push(row);
      return { dims: row.dims, geometry: row.geometry, tensor: new GpuTensor('float32', row.dims, row.buffer) };
    } catch (error) {
      // Of the image.
      if (error instanceof TabServeError) throw error;
      if (!this.#isGivenUp) context.warn(cannot(error));
      this.#giveUp();
      return undefined;
    }
  }

  /** Ends a batch: its buffers are reused. Then starts the comparison that one of its images needs. */
  #end(context: Context): void {
    this.#batches.get(context)?.forEach(({ release }) => release());
    this.#batches.delete(context);
    const kind = this.#uncompared;
    this.#uncompared = undefined;
    if (!kind || this.#comparing || this.#isGivenUp || this.#choices.has(kind.name)) return;
    this.#comparing = this.#compare(kind, context)
      .catch((error: unknown) => {
        if (!this.#isGivenUp) context.warn(cannot(error));
        return false;
      })
      .then((isFaster) => {
        this.#choices.set(kind.name, isFaster);
        this.#comparing = undefined;
      });
  }

  async #compare(kind: Kind, context: Context): Promise<boolean> {
    const picture = await openNoise(kind, context);
    try {
      const { crop } = kind;
      const open = (): DecodedImage => (crop ? crop.of({ ...picture }) : picture);
      const times = await compare(open, this.#cpu, this.#transforms, this.#device);
      if (!times) return false;
      const { isEqual, cpu, gpu } = times;
      if (!isEqual) {
        context.warn(`${ON_CPU} The GPU transforms them differently.`);
        return false;
      }
      const isFaster = gpu < cpu;
      const labels = { images: kind.name, chosen: isFaster ? 'gpu' : 'cpu' };
      this.#record = (metrics) => {
        metrics.addTime(METRIC, cpu, { labels: { ...labels, on: 'cpu' } });
        metrics.addTime(METRIC, gpu, { labels: { ...labels, on: 'gpu' } });
      };
      return isFaster;
    } finally {
      picture.close();
    }
  }

  get #transforms(): GpuTransforms {
    return (this.#gpu ??= compileGpuTransforms(this.#device, this.#cpu));
  }

  #giveUp(): void {
    this.#isGivenUp = true;
    this.#gpu?.dispose();
  }
}

const ON_CPU = 'Images are transformed on the CPU.';

function cannot(error: unknown): string {
  return `${ON_CPU} The GPU cannot transform them: ${messageOf(error)}`;
}

/** The metric of a comparison. */
const METRIC = 'ImageTransformTime';

function kindOf(image: DecodedImage | ImageCrop): Kind {
  const crop = 'source' in image ? image : undefined;
  const { bitmap, width, height }: DecodedImage = crop?.source ?? image;
  const isBitmap = bitmap !== undefined;
  const megapixels = 2 ** Math.round(Math.log2(width * height)) / 2 ** 20;
  const name = `${crop ? 'crops of ' : ''}${isBitmap ? 'bitmaps' : 'pixels'} of ${megapixels} MiP`;
  return { name, crop, isBitmap, width, height };
}

/** Opens an opaque picture of noise. */
async function openNoise({ isBitmap, width, height }: Kind, context: Context): Promise<DecodedImage> {
  const data = noisePixels(width, height);
  if (!isBitmap)
    return {
      width,
      height,
      read: (rect = { x: 0, y: 0, width, height }) => ({
        format: 'RGBX',
        width: rect.width,
        height: rect.height,
        stride: width * 4,
        data: data.subarray((rect.y * width + rect.x) * 4),
      }),
      close: () => {},
    };
  const bitmap = await createImageBitmap(new ImageData(data, width, height));
  const image = await context.decodeImage(bitmap);
  const close = (): void => {
    image.close();
    bitmap.close();
  };
  return { width, height, bitmap, read: (rect) => image.read(rect), close };
}

/** Compiles transforms for a GPU. */
import type { DecodedImage, Pixels, Rect, Strips } from '../../../contract/images.js';
import type { CompiledTransforms, RowDims } from '../compile.js';
import type { Geometry } from '../lower.js';
import { createProgram, type Program } from '../program.js';
import { tensorForm } from '../tensor.js';
import type { ImageCrop } from '../crop-image.js';
import { GpuBuffers } from './buffers.js';
import { cropPass, fitsShader, coordinateTable } from './crop-pass.js';
import { passesOf, type Pass } from './passes.js';
import { pipelineCompiler, type Pipelines } from './pipelines.js';
import type { PixelSource } from './shaders.js';
import { fits, Resources } from './resources.js';

/** One image, as one row of a batch, in a buffer of the device. */
export interface GpuRow {
  /** The numbers, from its beginning on. */
  readonly buffer: GPUBuffer;
  readonly dims: RowDims;
  /** How points of the image and of the tensor relate. */
  readonly geometry: Geometry;
  /** Lets the buffer be reused for another row. Call it after the run that reads the row. */
  release(): void;
}

/** Transforms that run on a GPU, on images of any size. Runs may overlap. */
export interface GpuTransforms {
  /**
   * Transforms one image, as the CPU does, bit for bit; of an `ImageCrop`, which has arithmetic on floats, as far as
   * the device rounds as the CPU does. A bitmap is copied from where the browser has it; another image is read as for
   * the CPU, and sent. For crops of one image, one after the other, this is done once.
   * @returns undefined if only the CPU can transform the image: it is a bitmap with a transparent pixel, its pixels
   *   have one byte or three, it is too large for the device, or a crop of it lies too far beyond it
   * @throws what reading the image throws; an Error if the device is lost or cannot do it, and after `dispose`
   */
  run(image: DecodedImage | ImageCrop): Promise<GpuRow | undefined>;
  /** Frees everything on the GPU, but a row only when it is released: a model may be about to read it. */
  dispose(): void;
}

/** Compiles transforms for a device. */
export function compileGpuTransforms(device: GPUDevice, { transforms, outputDims }: CompiledTransforms): GpuTransforms {
  const form = tensorForm(transforms);
  const compile = pipelineCompiler(device);
  const results = new GpuBuffers(device, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST);
  const flags = new GpuBuffers(device, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);

  let isDisposed = false;
  const checkOpen = (): void => {
    if (isDisposed) throw new Error('The transforms have been disposed of.');
  };

  // All frames of a video have the same size: what one image needs is cached for the next one.
  let last: Planned | undefined;
  let current: { readonly of: Planned; readonly source: PixelSource; readonly resources: Resources } | undefined;
  const planFor = (image: DecodedImage | ImageCrop): Planned => {
    const name = nameOf(image);
    if (last?.name !== name) {
      const program = createProgram(transforms, image.width, image.height);
      const passes = passesOf(program, form);
      last =
        program.source && isCrop(image)
          ? { name, program, window: wholeOf(image.source), passes: [cropPass(image, program.source), ...passes] }
          : { name, program, window: program.source ?? NOTHING, passes };
    }
    return last;
  };
  const discardResources = (): void => {
    current?.resources.destroy();
    current = undefined;
  };

  const resourcesFor = (plan: Planned, source: PixelSource, pipelines: Pipelines): Resources => {
    if (current?.of === plan && current.source === source) return current.resources;
    discardResources();
    current = {
      of: plan,
      source,
      resources: new Resources(device, plan.window, source, plan.passes, pipelines),
    };
    return current.resources;
  };

  return {
    async run(image) {
      const plan = planFor(image);
      const { program, window, passes } = plan;
      const crop = program.source && isCrop(image) ? image : undefined;
      if (crop && !fitsShader(crop)) return undefined;
      const frame: DecodedImage = crop?.source ?? image;
      // Of a frame, several crops are likely to be cut out.
      const isThere = (): boolean => crop !== undefined && current?.of === plan && current.resources.has(frame);
      const bitmap = program.source && frame.bitmap;
      const mayRead = program.source && !bitmap;
      let pixels = mayRead && !isThere() ? await read(frame, window) : undefined;
      const source = bitmap ? 'texture' : mayRead && !pixels ? current!.source : sourceOf(pixels);
      if (!source || !fits(device.limits, window, passes, source)) return undefined;
      const pipelines = await compile(source, passes);
      // A run that overlaps may have sent another frame.
      if (mayRead && !pixels && !isThere()) pixels = await read(frame, window);
      checkOpen();
      const taken: { result?: GPUBuffer; flag?: GPUBuffer } = {};
      try {
        // Nothing is awaited in between, so overlapping runs can share resources: the device keeps their order.
        const submitted = checked(device, () => {
          const ready = resourcesFor(plan, source, pipelines);
          taken.result = results.take(passes.at(-1)!.bytes);
          if (bitmap) taken.flag = flags.take(4);
          if (bitmap && !isThere()) ready.copy(frame, bitmap);
          if (pixels) ready.send(frame, pixels);
          if (crop) ready.lookUp(coordinateTable(crop.map, program.source!));
          ready.submit(taken.result, taken.flag);
        });
        const [isTransparent] = await Promise.all([taken.flag && isSet(taken.flag), submitted]);
        checkOpen();
        if (taken.flag) flags.giveBack(taken.flag);
        const buffer = taken.result!;
        const release = (): void => results.giveBack(buffer);
        if (!isTransparent)
          return { buffer, dims: outputDims(image.width, image.height), geometry: program.geometry, release };
        release();
        return undefined;
      } catch (error) {
        // Any of these may be unusable.
        discardResources();
        if (taken.result) results.discard(taken.result);
        if (taken.flag) flags.discard(taken.flag);
        throw error;
      }
    },
    dispose() {
      isDisposed = true;
      discardResources();
      results.destroy();
      flags.destroy();
    },
  };
}

/** A program, with its passes. */
interface Planned {
  /** What it is made for: `nameOf`. */
  readonly name: string;
  readonly program: Program;
  /** The part of the image, or of the image that a crop is of, that the first pass reads. */
  readonly window: Rect;
  readonly passes: readonly Pass[];
}

/** The window of a program whose result shows only padding. */
const NOTHING: Rect = { x: 0, y: 0, width: 0, height: 0 };

function isCrop(image: DecodedImage | ImageCrop): image is ImageCrop {
  return 'source' in image;
}

/** Returns all that a plan depends on. Crops differ only in their coordinates. */
function nameOf(image: DecodedImage | ImageCrop): string {
  const of = isCrop(image) ? [image.border, image.source.width, image.source.height] : [];
  return [image.width, image.height, ...of].join();
}

function wholeOf({ width, height }: DecodedImage): Rect {
  return { x: 0, y: 0, width, height };
}

async function read(image: DecodedImage, window: Rect): Promise<Pixels | Strips> {
  return await (image.readStrips ? image.readStrips(window) : image.read(window));
}

/** Returns how pixels are sent, or undefined if they are not: those of one or three bytes. */
function sourceOf(pixels: Pixels | Strips | undefined): PixelSource | undefined {
  if (!pixels) return 'RGBX';
  return pixels.format === 'RGBX' || pixels.format === 'BGRX' ? pixels.format : undefined;
}

/**
 * Runs work on a device. Resolves when the device has found no mistake in it, which is before the work is done.
 * @throws what `work` throws; an Error if memory is short, or a call was wrong
 */
async function checked(device: GPUDevice, work: () => void): Promise<void> {
  device.pushErrorScope('out-of-memory');
  device.pushErrorScope('validation');
  let scopes: readonly Promise<GPUError | null>[] = [];
  try {
    work();
  } finally {
    scopes = [device.popErrorScope(), device.popErrorScope()];
  }
  for (const error of await Promise.all(scopes)) if (error) throw new Error(error.message);
}

/** Waits for the device, and returns whether it has set a flag. */
async function isSet(flag: GPUBuffer): Promise<boolean> {
  await flag.mapAsync(GPUMapMode.READ);
  const [value] = new Uint32Array(flag.getMappedRange(0, 4));
  flag.unmap();
  return value !== 0;
}

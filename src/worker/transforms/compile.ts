/** Compiles transforms for the CPU. */
import type { DecodedImage, Pixels, Rect } from '../../contract/images.js';
import { TabServeError } from '../../contract/errors.js';
import { takeReady } from '../tensors/buffers.js';
import { createResampleKernel, type ResampleKernel } from './resample-kernel.js';
import { lower, type Geometry } from './lower.js';
import { operate, resize } from './operate.js';
import { parseTransforms } from './parse.js';
import { createProgram, type Program } from './program.js';
import type { Transforms } from './steps.js';
import { tensorForm, writeTensor } from './tensor.js';
import { divide, runTail, tailSize } from './tail.js';
import { createScratch, PIXEL_BYTES, type PixelWindow, type StripWindow } from './pixel-window.js';

/** Dims of one row: `[channels, height, width]`, or `[height, width, channels]` after `layout('NHWC')`. */
export type RowDims = readonly [number, number, number];

/** One image, as one row of a batch. */
export interface ImageRow {
  /** The array that was passed to `run`, or a new one. */
  readonly data: Float32Array;
  readonly dims: RowDims;
  /** How points of the image and of the tensor relate. */
  readonly geometry: Geometry;
}

/** Transforms that are ready to run, on images of any size. Runs may overlap. */
export interface CompiledTransforms {
  /** The steps, with all defaults filled in. */
  readonly transforms: Transforms;
  /**
   * Returns the dims of the row that an image of this size becomes.
   * @throws `invalid-input` if a resize would leave no pixel of it
   */
  outputDims(width: number, height: number): RowDims;
  /**
   * Transforms one image. Reads only the part of it that the result needs. The same image must not be in two runs at a
   * time, since its `read` reuses one buffer. Every image counts as RGB: an `L` image has three equal channels, unless
   * `grayscale` makes it one.
   * @param out the array to write the row to, from element `offset` on. By default a new array
   * @throws `invalid-input` if the image is empty, if it has fewer bytes than its size needs, if a resize would leave
   *   no pixel of it, or if the row does not fit `out`
   */
  run(image: DecodedImage | Pixels, out?: Float32Array, offset?: number): Promise<ImageRow>;
}

/**
 * Compiles transforms, from `compose` or `parseTransforms`, to a function of an image that computes on the CPU what
 * torchvision 0.28.0 computes on an image of Pillow 12.3.0 with the same pixels, bit for bit: `test/goldens/transforms`
 * holds results of these versions. Between versions, Pillow has changed the order of its two passes for very tall
 * images (see `lower.ts`), and with it the last bit there.
 *
 * From its first run on, it holds about 0.3 MB of WebAssembly memory, up to about 7 MB if it resizes, and buffers for
 * intermediate images.
 * @throws `model-config` if a step has a wrong value or stands where it cannot
 */
export function compileTransforms(transforms: Transforms): CompiledTransforms {
  let kernel: ResampleKernel | undefined;
  return compileTransformsWith(() => (kernel ??= createResampleKernel()), transforms);
}

/** Does what `compileTransforms` does, with a given kernel. */
export function compileTransformsWith(kernel: () => ResampleKernel, steps: Transforms): CompiledTransforms {
  const transforms = parseTransforms(steps, 'imageProcessing');
  const { head, tail } = divide(transforms);
  const form = tensorForm(head);
  const { layout } = tensorForm(transforms);
  const scratch = createScratch();
  const dims = ({ width, height }: { readonly width: number; readonly height: number }): RowDims =>
    layout === 'NCHW' ? [form.channels, height, width] : [height, width, form.channels];

  // All frames of a video have the same size: the last program is cached.
  let last: { readonly width: number; readonly height: number; readonly program: Program } | undefined;
  const programFor = (width: number, height: number): Program => {
    if (last?.width !== width || last.height !== height)
      last = { width, height, program: createProgram(head, width, height) };
    return last.program;
  };

  return {
    transforms,
    outputDims(width, height) {
      const lowered = lower(head, width, height);
      return dims(tailSize(tail, lowered.width, lowered.height, lowered.geometry));
    },
    async run(image, out, offset = 0) {
      const program = programFor(image.width, image.height);
      const result = tailSize(tail, program.width, program.height, program.geometry);
      const size = form.channels * result.width * result.height;
      if (out && !(offset >= 0 && offset + size <= out.length))
        throw new TabServeError(
          'invalid-input',
          `A row of ${size} numbers does not fit into an array of ${out.length} from element ${offset} on. Pass a larger array.`,
        );
      const source = await readView(image, program);
      // From here on nothing is awaited, so overlapping runs can share the scratch memory and the kernel.
      const pixels = program.operations.reduce<PixelWindow | StripWindow>((input, operation, index) => {
        if (operation.kind === 'resize') return resize(operation, input, kernel, scratch, index);
        return operate(operation, input as PixelWindow, kernel, scratch, index);
      }, source) as PixelWindow;
      const window = { x: 0, y: 0, width: program.width, height: program.height };
      if (tail.length > 0) {
        const planes = new Float32Array(form.channels * program.width * program.height);
        writeTensor(kernel(), pixels, window, form, planes, 0);
        const numbers = runTail(tail, { ...window, data: planes }, form.channels);
        out?.set(numbers, offset);
        return { data: out ?? numbers, dims: dims(result), geometry: result.geometry };
      }
      const data = out ?? new Float32Array(takeReady(size * 4));
      writeTensor(kernel(), pixels, window, form, data, offset);
      return { data, dims: dims(program), geometry: program.geometry };
    },
  };
}

/** Reads what the first operation needs: if it is a resize, a few rows at a time where the image can. */
async function readView(
  image: DecodedImage | Pixels,
  { source, operations }: Program,
): Promise<PixelWindow | StripWindow> {
  if (!source) return { format: 'L', width: 0, height: 0, stride: 0, data: new Uint8Array(0), x: 0, y: 0 };
  const { x, y } = source;
  if (!('read' in image)) return cut(checkedWindow({ ...image, x: 0, y: 0 }), source);
  const resizes = operations[0]?.kind === 'resize';
  const pixels = await (resizes && image.readStrips ? image.readStrips(source) : image.read(source));
  const missing = pixels.width !== source.width || pixels.height !== source.height;
  return 'strip' in pixels ? { ...pixels, x, y } : checkedWindow({ ...pixels, x, y }, missing);
}

/**
 * Returns the part of a whole image that the operations may see: what a crop cuts off must not come back where a later
 * step pads.
 */
function cut(whole: PixelWindow, { x, y, width, height }: Rect): PixelWindow {
  const data = whole.data.subarray(y * whole.stride + x * PIXEL_BYTES[whole.format]);
  return { ...whole, x, y, width, height, data };
}

/** @throws `invalid-input` if pixels are missing */
function checkedWindow(view: PixelWindow, missing = false): PixelWindow {
  const bytes = view.width * PIXEL_BYTES[view.format];
  if (missing || view.stride < bytes || view.data.length < (view.height - 1) * view.stride + bytes)
    throw new TabServeError(
      'invalid-input',
      `The image has ${view.data.length} bytes for ${view.width} × ${view.height} ${view.format} pixels with rows ${view.stride} bytes apart: these are too few, or not the part that was asked for.`,
    );
  return view;
}

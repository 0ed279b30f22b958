/** Compiles transforms for the CPU. */
import type { DecodedImage, Pixels } from '../contract/images.js';
import { TabServeError } from '../contract/errors.js';
import { createResampleKernel, type ResampleKernel } from './resample-kernel.js';
import { lower, type Geometry } from './lower.js';
import { operate } from './operate.js';
import { parseTransforms } from './parse.js';
import { createProgram, type Program } from './program.js';
import type { Transforms } from './steps.js';
import { tensorForm, writeTensor } from './tensor.js';
import { createScratch, PIXEL_BYTES, type PixelWindow } from './pixel-window.js';

/** `[channels, height, width]`, or `[height, width, channels]` after `layout('NHWC')`. */
export type RowDims = readonly [number, number, number];

/** One image as one row of a batch. */
export interface ImageRow {
  /** The array that was passed, or a new one. */
  readonly data: Float32Array;
  readonly dims: RowDims;
  readonly geometry: Geometry;
}

/** Transforms, ready to run. One plan serves images of all sizes; runs may overlap. */
export interface CompiledTransforms {
  /** With all defaults filled in. */
  readonly transforms: Transforms;
  /** The dims of the row that an image of this size becomes. @throws `invalid-input` if a resize would leave nothing of it */
  outputDims(width: number, height: number): RowDims;
  /**
   * Transforms one image, reading only the part of it that shows in the result; one image must not be in two runs at a time,
   * since its `read` lends one buffer. Images count as RGB: `L` is three equal channels unless `grayscale` says otherwise.
   * @param out where the row goes, from element `offset` on; a new array of just its size if not given
   * @throws `invalid-input` if the image is empty or shorter than it says, if a resize would leave nothing of it, or if the row does not fit `out`
   */
  run(image: DecodedImage | Pixels, out?: Float32Array, offset?: number): Promise<ImageRow>;
}

/**
 * A plan that computes on the CPU what torchvision computes on a Pillow image of the same pixels, bit for bit.
 * It keeps up to about 7 MB of WebAssembly memory from its first resize on, and buffers for intermediate images.
 * @throws `model-config` if a step has a wrong value or stands where it cannot
 */
export function compileTransforms(transforms: Transforms): CompiledTransforms {
  let kernel: ResampleKernel | undefined;
  return compileTransformsWith(() => (kernel ??= createResampleKernel()), transforms);
}

/** `compileTransforms` on a kernel of one's choice. */
export function compileTransformsWith(kernel: () => ResampleKernel, steps: Transforms): CompiledTransforms {
  const transforms = parseTransforms(steps, 'imageProcessing');
  const form = tensorForm(transforms);
  const scratch = createScratch();
  const dims = ({ width, height }: { readonly width: number; readonly height: number }): RowDims =>
    form.layout === 'NCHW' ? [form.channels, height, width] : [height, width, form.channels];

  // The frames of a video are all of one size.
  let last: { readonly width: number; readonly height: number; readonly program: Program } | undefined;
  const programFor = (width: number, height: number): Program => {
    if (last?.width !== width || last.height !== height)
      last = { width, height, program: createProgram(transforms, width, height) };
    return last.program;
  };

  return {
    transforms,
    outputDims: (width, height) => dims(lower(transforms, width, height)),
    async run(image, out, offset = 0) {
      const program = programFor(image.width, image.height);
      const size = form.channels * program.width * program.height;
      if (out && !(offset >= 0 && offset + size <= out.length))
        throw new TabServeError(
          'invalid-input',
          `A row of ${size} numbers does not fit an array of ${out.length} from ${offset} on.`,
        );
      let view = await readView(image, program);
      // Nothing is awaited from here on, so that runs may share the scratch and the kernel.
      program.operations.forEach((operation, index) => (view = operate(operation, view, kernel, scratch, index)));
      const data = out ?? new Float32Array(size);
      writeTensor(view, { x: 0, y: 0, width: program.width, height: program.height }, form, data, offset);
      return { data, dims: dims(program), geometry: program.geometry };
    },
  };
}

async function readView(image: DecodedImage | Pixels, { source }: Program): Promise<PixelWindow> {
  if (!source) return { format: 'L', width: 0, height: 0, stride: 0, data: new Uint8Array(0), x: 0, y: 0 };
  const view = 'read' in image ? { ...(await image.read(source)), x: source.x, y: source.y } : { ...image, x: 0, y: 0 };
  const bytes = view.width * PIXEL_BYTES[view.format];
  const missing = 'read' in image && (view.width !== source.width || view.height !== source.height);
  if (missing || view.stride < bytes || view.data.length < (view.height - 1) * view.stride + bytes)
    throw new TabServeError(
      'invalid-input',
      `${view.width} × ${view.height} ${view.format} pixels need more than ${view.data.length} bytes, or are not all that was asked for.`,
    );
  return view;
}

import type { Context, InputKind } from '../../contract/handler.js';
import type { ImageInput } from '../../contract/images.js';
import type { Tensor, Tensors } from '../../contract/tensors.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import { MAX_TENSOR_ELEMENTS } from '../../contract/limits.js';
import { resizeLinear, toRaster, type Raster } from '../outputs/ocr/raster.js';
import { stack } from '../tensors/tensors.js';
import { BaseHandler } from './base-handler.js';
import { unwrap, type Row } from './row.js';

/** The height of a line in a tensor, in pixels. */
const HEIGHT = 48;

/** Decodes an image to RGB pixels. @throws `image-decode`, `image-too-large`, `invalid-input` */
export async function decodeRaster(input: ImageInput, context: Context): Promise<Raster> {
  const image = await context.decodeImage(input);
  try {
    return toRaster(await image.read());
  } finally {
    image.close();
  }
}

/**
 * Converts pictures of one line of text each to tensors, as PaddleOCR does: scaled to a height of 48 pixels, blue,
 * green and red in −1..1, and zeros on the right.
 */
export abstract class TextLineHandler<Result> extends BaseHandler<ImageInput, Result> {
  static override readonly takes: InputKind = 'image';

  /** Returns the width of a batch's tensor. @param widest the largest ratio of width to height among its lines */
  protected abstract tensorWidth(widest: number): number;

  override async preprocess(data: readonly Row<ImageInput>[], context: Context): Promise<Tensors> {
    const lines: (Raster | undefined)[] = [];
    for (const [index, row] of data.entries()) {
      try {
        const line = await decodeRaster(unwrap(row), context);
        checkSize(1, this.tensorWidth(line.width / line.height));
        lines[index] = line;
      } catch (error) {
        context.fail(index, asTabServeError(error, 'preprocess'));
      }
    }
    const ratios = lines.flatMap((line) => (line ? line.width / line.height : []));
    const width = this.tensorWidth(Math.max(0, ...ratios));
    checkSize(data.length, width);
    const rows = Array.from({ length: data.length }, (_, index) => lineTensor(lines[index], width));
    return { [this.inputInfo.name]: stack(rows) };
  }

  /** Returns the tensor of an empty line. */
  override example(_context: Context): Tensors {
    return { [this.inputInfo.name]: stack([lineTensor(undefined, this.tensorWidth(0))]) };
  }
}

/**
 * @throws `image-too-large` for lines that are too long for a tensor: a picture of one row of pixels becomes 48 times
 *   as long
 */
function checkSize(rows: number, width: number): void {
  if (rows * 3 * HEIGHT * width <= MAX_TENSOR_ELEMENTS) return;
  throw new TabServeError(
    'image-too-large',
    `The longest line would be ${width} pixels wide at a height of ${HEIGHT}, and ${rows} such rows exceed the limit of ${MAX_TENSOR_ELEMENTS} numbers. Pass shorter lines.`,
  );
}

/** Returns [3, 48, width]: zeros without a line. */
function lineTensor(line: Raster | undefined, width: number): Tensor {
  const data = new Float32Array(3 * HEIGHT * width);
  if (line) {
    const own = Math.min(Math.ceil((HEIGHT * line.width) / line.height), width);
    const { data: pixels } = resizeLinear(line, own, HEIGHT);
    for (let y = 0, from = 0; y < HEIGHT; y++)
      for (let x = 0; x < own; x++, from += 3)
        for (let channel = 0; channel < 3; channel++)
          data[(channel * HEIGHT + y) * width + x] = (pixels[from + 2 - channel]! / 255 - 0.5) / 0.5;
  }
  return { dtype: 'float32', dims: [3, HEIGHT, width], data };
}

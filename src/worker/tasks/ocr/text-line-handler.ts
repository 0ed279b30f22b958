import type { Context, InputKind } from '../../../contract/handler.js';
import type { ImageInput } from '../../../contract/images.js';
import type { Tensor, Tensors } from '../../../contract/tensors.js';
import { asTabServeError, TabServeError } from '../../../contract/errors.js';
import { MAX_TENSOR_ELEMENTS } from '../../../contract/limits.js';
import { resizeLinear, toRaster, type Raster } from './raster.js';
import { stack } from '../../tensors/tensors.js';
import { BaseHandler } from '../../handlers/base-handler.js';
import { unwrap, type Row } from '../../handlers/row.js';

/** How a line becomes a tensor. */
export interface LineForm {
  /** The height of the tensor, in pixels. */
  readonly height: number;
  /** Whether a line keeps its aspect ratio, with zeros on the right; if not, it fills the tensor. */
  readonly keepsRatio: boolean;
  readonly colorOrder: 'RGB' | 'BGR';
  /** Of numbers in 0..1: subtracted from each channel, in the order of the tensor's channels. */
  readonly mean: readonly number[];
  /** Each channel is divided by it. */
  readonly std: readonly number[];
}

/** Decodes an image to RGB pixels. @throws `image-decode`, `image-too-large`, `invalid-input` */
export async function decodeRaster(input: ImageInput, context: Context): Promise<Raster> {
  const image = await context.decodeImage(input);
  try {
    return toRaster(await image.read());
  } finally {
    image.close();
  }
}

/** That of PP-OCRv4, and of the recognizer of PP-OCRv5. */
export const LINE_FORM: LineForm = {
  height: 48,
  keepsRatio: true,
  colorOrder: 'BGR',
  mean: [0.5, 0.5, 0.5],
  std: [0.5, 0.5, 0.5],
};

/**
 * Converts pictures of one line of text each to tensors, as PaddleOCR does: scaled to a height of 48 pixels, blue,
 * green and red in −1..1, and zeros on the right. A subclass may have another form.
 */
export abstract class TextLineHandler<Result> extends BaseHandler<ImageInput, Result> {
  static override readonly takes: InputKind = 'image';

  /** Returns the width of a batch's tensor. @param widest the largest ratio of width to height among its lines */
  protected abstract tensorWidth(widest: number): number;

  protected get form(): LineForm {
    return LINE_FORM;
  }

  /** Returns the value of a key that only the config sets. */
  protected setting<T>(key: string): T {
    return (this.config[key] ?? this.defaults[key]) as T;
  }

  override async preprocess(data: readonly Row<ImageInput>[], context: Context): Promise<Tensors> {
    const lines: (Raster | undefined)[] = [];
    for (const [index, row] of data.entries()) {
      try {
        const line = await decodeRaster(unwrap(row), context);
        checkSize(1, this.form.height, this.tensorWidth(line.width / line.height));
        lines[index] = line;
      } catch (error) {
        context.fail(index, asTabServeError(error, 'preprocess'));
      }
    }
    const ratios = lines.flatMap((line) => (line ? line.width / line.height : []));
    const width = this.tensorWidth(Math.max(0, ...ratios));
    checkSize(data.length, this.form.height, width);
    const rows = Array.from({ length: data.length }, (_, index) => lineTensor(lines[index], width, this.form));
    return { [this.inputInfo.name]: stack(rows) };
  }

  /** Returns the tensor of an empty line. */
  override example(_context: Context): Tensors {
    return { [this.inputInfo.name]: stack([lineTensor(undefined, this.tensorWidth(0), this.form)]) };
  }
}

/**
 * @throws `image-too-large` for lines that are too long for a tensor: a picture of one row of pixels becomes 48 times
 *   as long
 */
function checkSize(rows: number, height: number, width: number): void {
  if (rows * 3 * height * width <= MAX_TENSOR_ELEMENTS) return;
  throw new TabServeError(
    'image-too-large',
    `The longest line would be ${width} pixels wide at a height of ${height}, and ${rows} such rows exceed the limit of ${MAX_TENSOR_ELEMENTS} numbers. Pass shorter lines.`,
  );
}

/** Returns [3, height, width]: zeros without a line. */
function lineTensor(
  line: Raster | undefined,
  width: number,
  { height, keepsRatio, colorOrder, mean, std }: LineForm,
): Tensor {
  const data = new Float32Array(3 * height * width);
  if (line) {
    const own = keepsRatio ? Math.min(Math.ceil((height * line.width) / line.height), width) : width;
    const { data: pixels } = resizeLinear(line, own, height);
    for (let y = 0, from = 0; y < height; y++)
      for (let x = 0; x < own; x++, from += 3)
        for (let channel = 0; channel < 3; channel++) {
          const value = pixels[from + (colorOrder === 'BGR' ? 2 - channel : channel)]!;
          data[(channel * height + y) * width + x] = (value / 255 - mean[channel]!) / std[channel]!;
        }
  }
  return { dtype: 'float32', dims: [3, height, width], data };
}

import type { Signature } from '../../../contract/task.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Context, InputKind } from '../../../contract/handler.js';
import type { ImageInput } from '../../../contract/images.js';
import type { Tensor, Tensors } from '../../../contract/tensors.js';
import { findBoxes } from './find-boxes.js';
import { floatOutput } from '../../outputs/floats.js';
import { checkRows, numbersOf } from '../../outputs/rows.js';
import { checkScores } from '../../outputs/scores.js';
import { resizeLinear, type Quad, type Raster } from './raster.js';
import { roundHalfEven } from '../../tensors/round.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { row, stack, toFloats } from '../../tensors/tensors.js';
import { BaseHandler } from '../../handlers/base-handler.js';
import { unwrap, type Row } from '../../handlers/row.js';
import { decodeRaster } from './text-line-handler.js';
import { TEXT_DETECTOR_SCHEMA } from './schemas.js';
import type { BaseHandlerConfig } from '../../handlers/base-handler.js';

/** Sides of the tensor are multiples of it. */
const STEP = 32;
/** A photo whose sides together have fewer pixels gets black at the right and at the bottom. */
const TINY = 64;
/** ImageNet's, applied to blue, green and red, as PaddleOCR does. */
const [MEAN, STD] = [
  [0.485, 0.456, 0.406],
  [0.229, 0.224, 0.225],
] as const;
/** The size of the example, in pixels. */
const EXAMPLE = 320;

type Size = Pick<Raster, 'width' | 'height'>;

/** The `params` of a text detector. */
export interface TextDetectorParams {
  /**
   * The minimum mean of the map within a box. PaddleOCR: det_db_box_thresh.
   * @minimum 0
   * @maximum 1
   * @default 0.6
   */
  readonly boxThreshold?: number;
  /**
   * Pixels of the map above it are text. PaddleOCR: det_db_thresh.
   * @minimum 0
   * @maximum 1
   * @default 0.3
   */
  readonly threshold?: number;
  /**
   * By how much a box grows: its margin is area × ratio / perimeter. PaddleOCR: det_db_unclip_ratio.
   * @minimum 0.1
   * @maximum 10
   * @default 1.5
   */
  readonly unclipRatio?: number;
}

/** The keys of `handler:` that only the config sets. */
export interface TextDetectorConfig extends BaseHandlerConfig {
  /**
   * A photo with a longer side is scaled down to it, in pixels. PaddleOCR: det_limit_side_len.
   * @integer
   * @minimum 32
   * @maximum 4096
   * @default 960
   */
  readonly limitSide?: number;
}

/**
 * Finds lines of text in photos: PaddleOCR's DB detector, whose output `[rows, 1, height, width]` says for each pixel
 * how likely it is text. Returns quadrilaterals in the photo's pixels, in reading order.
 * @answer the four corners of each line of text: `[[[x, y], …], …]`
 */
export class TextDetector extends BaseHandler<ImageInput, readonly Quad[]> {
  declare readonly paramsType?: TextDetectorParams;

  static override readonly takes: InputKind = 'image';
  declare readonly configType?: TextDetectorConfig;
  // PP-OCR's exports: Paddle calls the input x.
  static override readonly nearest: readonly Signature[] = [
    {
      order: 84,
      reads: 'images',
      input: 'x',
      main: { rank: 4, channels: 1, name: ['sigmoid', 'sigmoid_tmp', 'fetch_name'] },
    },
  ];
  static override readonly schema: ConfigSchema = TEXT_DETECTOR_SCHEMA;

  /** The sizes of the photos of a batch, by row. */
  readonly #sizes = new WeakMap<Context, Size[]>();

  /** Opens the model and checks its output. @throws `model-config` if it holds no floating-point numbers */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config);
  }

  /**
   * Decodes and scales the photos.
   * @throws `invalid-input` if the tensors of a batch differ in size: then the rows run one by one
   */
  override async preprocess(data: readonly Row<ImageInput>[], context: Context): Promise<Tensors> {
    const sizes: Size[] = [];
    const rows: Tensor[] = [];
    for (const item of data) {
      const photo = await decodeRaster(unwrap(item), context);
      sizes.push({ width: photo.width, height: photo.height });
      rows.push(this.#tensorOf(photo));
      if (rows[0]!.dims.join() !== rows.at(-1)!.dims.join())
        throw new TabServeError('invalid-input', 'The photos of this batch differ in size.');
    }
    this.#sizes.set(context, sizes);
    return { [this.inputInfo.name]: stack(rows) };
  }

  /** Returns [3, height, width]. */
  #tensorOf(photo: Raster): Tensor {
    const { width, height, data } = this.#resized(photo);
    const plane = width * height;
    const values = new Float32Array(3 * plane);
    for (let channel = 0; channel < 3; channel++) {
      const [mean, std] = [MEAN[channel]!, STD[channel]!];
      for (let index = 0; index < plane; index++)
        values[channel * plane + index] = (data[3 * index + 2 - channel]! / 255 - mean) / std;
    }
    return { dtype: 'float32', dims: [3, height, width], data: values };
  }

  #resized(photo: Raster): Raster {
    const { width, height } = paddedSize(photo);
    const limit = (this.config['limitSide'] ?? this.defaults['limitSide']) as number;
    const ratio = Math.min(1, limit / Math.max(width, height));
    const side = (length: number): number => Math.max(roundHalfEven(Math.trunc(length * ratio) / STEP) * STEP, STEP);
    return resizeLinear(padded(photo), side(width), side(height));
  }

  /** Returns the tensor of a black photo. */
  override example(_context: Context): Tensors {
    const black = { width: EXAMPLE, height: EXAMPLE, data: new Uint8Array(EXAMPLE * EXAMPLE * 3) };
    return { [this.inputInfo.name]: stack([this.#tensorOf(black)]) };
  }

  /** Converts the maps to boxes. A row whose map has a number that is no probability fails with `inference-failed`. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => readonly Quad[] {
    const { name } = this.outputInfo;
    const maps = numbersOf(outputs, name);
    const sizes = this.#sizes.get(context)!;
    checkRows(name, maps, sizes.length);
    const [height, width] = maps.dims.slice(-2) as [number, number];
    if (!(width > 0) || maps.data.length !== sizes.length * height * width)
      throw new TabServeError(
        'model-config',
        `handler.outputName: text_detector needs an output [images, 1, height, width], but "${name}" has the dims [${maps.dims.join(', ')}]. Name another output.`,
      );
    return (index) => {
      const size = sizes[index]!;
      const data = toFloats(row(maps, index));
      checkScores(data, 'probabilities', false);
      const options = {
        threshold: this.param<number>('threshold', index, context),
        boxThreshold: this.param<number>('boxThreshold', index, context),
        unclipRatio: this.param<number>('unclipRatio', index, context),
      };
      return findBoxes({ width, height, data }, paddedSize(size), options, size);
    };
  }
}

/** Returns a photo's size, or that of a tiny one with black around it, at least 32 pixels on each side. */
function paddedSize({ width, height }: Size): Size {
  return width + height < TINY ? { width: Math.max(width, STEP), height: Math.max(height, STEP) } : { width, height };
}

/** Returns a photo, a tiny one with black at the right and at the bottom. */
function padded(photo: Raster): Raster {
  const { width, height } = paddedSize(photo);
  if (width === photo.width && height === photo.height) return photo;
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < photo.height; y++)
    data.set(photo.data.subarray(y * photo.width * 3, (y + 1) * photo.width * 3), y * width * 3);
  return { width, height, data };
}

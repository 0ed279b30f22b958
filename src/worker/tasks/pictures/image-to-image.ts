import { TabServeError } from '../../../contract/errors.js';
import type { Context } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import { MAX_TENSOR_ELEMENTS } from '../../../contract/limits.js';
import type { DType, Tensor, Tensors } from '../../../contract/tensors.js';
import { mapForm, type MapLayout } from '../../outputs/maps.js';
import { toPicture, type Picture } from '../../outputs/picture.js';
import { numbersOf, rowPart } from '../../outputs/rows.js';
import { cut, dimsOf, divide, paste, rasterOf, sameType, type Numbers, type Raster } from './tiles.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { slice, stack } from '../../tensors/tensors.js';
import { compose, toTensor } from '../../transforms/index.js';
import { isChannelsLast } from '../../handlers/image-input.js';
import { PIXEL_MASK, pixelMask } from '../../handlers/other-inputs.js';
import { codeOfParams } from '../../handlers/row.js';
import { nextTask } from '../../../shared/next-task.js';
import { VisionHandler } from '../../handlers/vision-handler.js';
import type { VisionParams } from '../../handlers/vision-params.js';
import { IMAGE_TO_IMAGE_SCHEMA } from './schemas.js';
import type { VisionConfig } from '../../handlers/vision-params.js';

/** The `params` of an image-to-image handler. */
export interface ImageToImageParams extends VisionParams {
  /**
   * The side of a tile, in pixels of the image that the model gets. Larger images are computed in tiles. A side
   * that the model fixes is the tile. Default 256.
   * @integer
   * @minimum 1
   */
  readonly tileSize?: number;
  /**
   * The pixels by which a tile reaches beyond those that it contributes; less than half of a tile. If the
   * model looks no further than this, the result is the same as without tiles. Default: 16, or what a smaller tile
   * allows.
   * @integer
   * @minimum 0
   */
  readonly overlap?: number;
}

/** The side of a tile if the model takes any size. */
const TILE_SIZE = 256;

/** The usual overlap. */
const OVERLAP = 16;

/** The side of the example pictures: a model that enlarges them takes long enough. */
const EXAMPLE_SIZE = 64;

/** A model's size, or undefined where it takes any. */
type Side = number | undefined;

/** The keys of `handler:` that only the config sets. */
export interface ImageToImageConfig extends VisionConfig {
  /**
   * The numbers of the model's output that stand for 0 and for 255; the first one must be lower. Numbers beyond
   * are clamped. Default: 0 and 255 if the output is uint8, otherwise 0 and 1.
   */
  readonly outputRange?: readonly [number, number];
  /** The layout of the output. Default: the layout of the input. */
  readonly layout?: 'NCHW' | 'NHWC';
}

/**
 * Converts images to images: enlarges, removes noise, colors. The model's output holds pixels,
 * `[rows, channels, height, width]` or `[rows, height, width, channels]`, with 1, 3 or 4 channels. The default
 * transforms are only `toTensor`, which keeps the size of the image.
 *
 * An image that is larger than the model's input, or than `tileSize`, is computed in tiles that overlap. If `overlap`
 * is at least as many pixels as the model looks far, the result is the same as without tiles. An image that is smaller
 * than a size that the model fixes is continued with its last pixels, which are cut off from the result. So is what a
 * step `mirror` has added.
 * @answer `{ width, height, data }`: pixels, RGBA; `paintPicture` makes them an `ImageData`
 */
export class ImageToImage extends VisionHandler<Picture> {
  declare readonly paramsType?: ImageToImageParams;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForImageSuperResolution'],
    processor: 'image',
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 100, reads: 'images', main: { rank: 4, isLogits: false, channels: 3 } },
  ];

  declare readonly configType?: ImageToImageConfig;
  static override readonly schema: ConfigSchema = IMAGE_TO_IMAGE_SCHEMA;

  override imageProcessing = compose(toTensor());

  /**
   * Opens the model and checks the config.
   * @throws `model-config` if the input or the range does not suit
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const { name, dtype } = this.outputInfo;
    if (dtype === 'string' || dtype === 'int64' || dtype === 'bool')
      throw new TabServeError(
        'model-config',
        `handler.outputName: an image-to-image handler needs numbers for pixels, but the output "${name}" is ${dtype}. Name another output.`,
      );
    const [low, high] = this.#rangeOf(dtype);
    if (!(low < high))
      throw new TabServeError(
        'model-config',
        `handler.outputRange: the first number must be lower, got ${low}, ${high}.`,
      );
    this.#tiling(0, context);
  }

  protected override get exampleSize(): number {
    return Math.max(this.fixedSize?.width ?? EXAMPLE_SIZE, this.fixedSize?.height ?? EXAMPLE_SIZE);
  }

  /**
   * Lets an image of any size pass: `inference` cuts it to tiles.
   * @throws `invalid-input` for a tensor without the dims of an image
   */
  protected override checkRow(row: Tensor): Tensor {
    return row.dims.length === 3 ? row : super.checkRow(row);
  }

  #rangeOf(dtype: DType | undefined): readonly [low: number, high: number] {
    return (this.config['outputRange'] as [number, number] | undefined) ?? [0, dtype === 'uint8' ? 255 : 1];
  }

  get #inputLayout(): MapLayout {
    return isChannelsLast(this.imageProcessing) ? 'NHWC' : 'NCHW';
  }

  get #outputLayout(): MapLayout {
    return (this.config['layout'] as MapLayout | undefined) ?? this.#inputLayout;
  }

  /** Returns the width and height that the model fixes, if it does. */
  get #modelSize(): readonly [width: Side, height: Side] {
    const dims = this.inputInfo.dims.slice(-3);
    const [height, width] = this.#inputLayout === 'NHWC' ? dims : dims.slice(1);
    const known = (side: unknown): Side => (typeof side === 'number' ? side : undefined);
    return [known(width), known(height)];
  }

  /**
   * Returns the size of the tiles of row `index`.
   * @throws `model-config` if the overlap leaves nothing of them; `invalid-input` if the request has set it so
   */
  #tiling(index: number, context: Context): { width: number; height: number; overlap: number } {
    const [fixedWidth, fixedHeight] = this.#modelSize;
    const size = this.param<number | undefined>('tileSize', index, context);
    const [width, height] = [fixedWidth ?? size ?? TILE_SIZE, fixedHeight ?? size ?? TILE_SIZE];
    const most = Math.ceil(Math.min(width, height) / 2) - 1;
    const overlap = this.param<number | undefined>('overlap', index, context) ?? Math.min(OVERLAP, most);
    if (2 * overlap < Math.min(width, height)) return { width, height, overlap };
    throw new TabServeError(
      codeOfParams(['overlap', 'tileSize'], index, context),
      `overlap: it must be less than half of a tile, which is ${width} × ${height} pixels, got ${overlap}.`,
    );
  }

  /**
   * Runs the model, on tiles where an image is larger than a tile. Between two tiles it lets other work of the worker
   * run, and it stops if the request is aborted.
   * @throws `image-too-large` if the output of an image would have more than 134,217,728 numbers
   */
  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    const images = inputs[this.inputInfo.name]!;
    const rows: Tensor[] = [];
    for (let index = 0; index < images.dims[0]!; index++)
      rows.push(await this.#runTiles(inputs, slice(images, index, index + 1), index, context));
    return { [this.outputInfo.name]: stack(rows) };
  }

  async #runTiles(inputs: Tensors, image: Tensor, index: number, context: Context): Promise<Tensor> {
    const source = rasterOf(image.dims.slice(1), image.data as Numbers, this.#inputLayout);
    const { width, height, overlap } = this.#tiling(index, context);
    const [fixedWidth, fixedHeight] = this.#modelSize;
    const [tileWidth, tileHeight] = [
      fixedWidth ?? Math.min(width, source.width),
      fixedHeight ?? Math.min(height, source.height),
    ];
    const columns = divide(source.width, tileWidth, overlap);
    const mask = this.model.inputs.find(({ name }) => name === PIXEL_MASK);
    const { name } = this.outputInfo;
    const others = mask && { [PIXEL_MASK]: pixelMask(mask, { rows: 1, height: tileHeight, width: tileWidth }) };
    let first: Enlarged | undefined;
    let result:
      | { readonly dims: readonly number[]; readonly raster: Raster; readonly dtype: Tensor['dtype'] }
      | undefined;
    for (const row of divide(source.height, tileHeight, overlap))
      for (const column of columns) {
        if (result) await nextTask();
        context.signal.throwIfAborted();
        context.heartbeat();
        const tile = cut(source, column.start, row.start, tileWidth, tileHeight);
        const feed = { ...image, dims: dimsOf(tile, this.#inputLayout), data: tile.data } as Tensor;
        const outputs = await super.inference({ ...inputs, ...others, [this.inputInfo.name]: feed }, context);
        const output = rowPart(name, numbersOf(outputs, name), 0, 1);
        const part = rasterOf(output.dims, output.data as Numbers, this.#outputLayout);
        const scale = scaleOf(part, tile, source);
        first ??= { part, scale };
        checkSame(first, { part, scale });
        result ??= { ...emptyResult(part, source, scale, this.#outputLayout), dtype: output.dtype };
        paste(result.raster, part, {
          x: column.from * scale,
          y: row.from * scale,
          left: (column.from - column.start) * scale,
          top: (row.from - row.start) * scale,
          width: (column.to - column.from) * scale,
          height: (row.to - row.from) * scale,
        });
      }
    const { dims, raster, dtype } = result!;
    return { dtype, dims, data: raster.data } as Tensor;
  }

  /** Converts the model's output to one picture for each row, and transfers its pixels to the page. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => Picture {
    const { name } = this.outputInfo;
    const isBgr = this.imageProcessing.some((step) => 'colorOrder' in step && step.colorOrder === 'BGR');
    const rows = context.systemProperties.batchSize;
    const layout = this.#outputLayout;
    return (index) => {
      const output = this.#cutMargin(rowPart(name, numbersOf(outputs, name), index, rows), index, context);
      const form = mapForm([1, ...output.dims], { layout, likely: layout, input: [null, null] });
      return toPicture(output, { form, range: this.#rangeOf(output.dtype), isBgr });
    };
  }

  /** Cuts off what `mirror` has continued the image with. */
  #cutMargin(output: Tensor, index: number, context: Context): Tensor {
    const placement = this.placement(index, context);
    if (!placement || !this.imageProcessing.some((step) => 'mirror' in step)) return output;
    const whole = rasterOf(output.dims, output.data as Numbers, this.#outputLayout);
    const { geometry, tensorWidth } = placement;
    const scale = whole.width / tensorWidth;
    const [x, y, width, height] = [
      geometry.offsetX,
      geometry.offsetY,
      geometry.scaleX * placement.width,
      geometry.scaleY * placement.height,
    ].map((value) => Math.round(value * scale)) as [number, number, number, number];
    const part = cut(whole, x, y, width, height);
    return { ...output, dims: dimsOf(part, this.#outputLayout).slice(1), data: part.data } as Tensor;
  }
}

/**
 * Returns by how much the model enlarges a tile.
 * @throws `model-config` if it is no whole number, or differs between width and height
 */
function scaleOf(part: Raster, tile: Raster, source: Raster): number {
  const scale = part.width / tile.width;
  if (Number.isInteger(scale) && part.height === tile.height * scale && scale > 0) return scale;
  throw new TabServeError(
    'model-config',
    `The model makes ${part.width} × ${part.height} pixels of ${tile.width} × ${tile.height}, for an image of ${source.width} × ${source.height}. An image-to-image handler needs both sides enlarged by the same whole number. Set handler.layout if the output has another layout than the input.`,
  );
}

/** A part of the result, and by how much the model has enlarged its tile. */
interface Enlarged {
  readonly part: Raster;
  readonly scale: number;
}

/** @throws `model-config` if the model answers two tiles with different channels or scales */
function checkSame(first: Enlarged, { part, scale }: Enlarged): void {
  if (scale === first.scale && part.planes === first.part.planes && part.unit === first.part.unit) return;
  throw new TabServeError(
    'model-config',
    'The model answers tiles of one size with pictures of different sizes or channels. An image-to-image handler needs an output whose dims depend on the input alone.',
  );
}

/** Returns a result without pixels yet. @throws `image-too-large` */
function emptyResult(
  part: Raster,
  source: Raster,
  scale: number,
  layout: MapLayout,
): { readonly dims: readonly number[]; readonly raster: Raster } {
  const size = { ...part, width: source.width * scale, height: source.height * scale };
  const length = size.width * size.height * part.planes * part.unit;
  if (length > MAX_TENSOR_ELEMENTS)
    throw new TabServeError(
      'image-too-large',
      `The result would have ${size.width} × ${size.height} pixels; the limit is ${MAX_TENSOR_ELEMENTS} numbers. Pass a smaller image, or add a resize step.`,
    );
  return { dims: dimsOf(size, layout).slice(1), raster: { ...size, data: sameType(part.data, length) } };
}

import type { Context } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { DecodedImage } from '../../../contract/images.js';
import { TabServeError } from '../../../contract/errors.js';
import type { OnArrayBuffer, Tensors } from '../../../contract/tensors.js';
import { activationFault, kindByOperator } from '../../outputs/activation.js';
import { probabilityMap } from './class-map.js';
import { cutOut } from './foreground.js';
import { bilinear } from '../../outputs/interpolate.js';
import { mapForm, type DimSize, type MapForm } from '../../outputs/maps.js';
import type { Picture } from '../../outputs/picture.js';
import { checkFilled, checkRows, numbersOf } from '../../outputs/rows.js';
import { checkScores, type ScoreKind } from '../../outputs/scores.js';
import { transferResult } from '../../outputs/transfer.js';
import { pause } from '../../../shared/next-task.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { slice, toFloats } from '../../tensors/tensors.js';
import { channelByte, PIXEL_BYTES } from '../../transforms/pixel-window.js';
import { compose, normalize, resize, toTensor } from '../../transforms/index.js';
import { isChannelsLast } from '../../handlers/image-input.js';
import { gridOf } from '../../handlers/placements.js';
import { VisionHandler } from '../../handlers/vision-handler.js';
import { BACKGROUND_REMOVER_SCHEMA } from './schemas.js';
import { floatOutput } from '../../outputs/floats.js';
import type { VisionConfig } from '../../handlers/vision-params.js';

/** The keys of `handler:` that only the config sets. */
export interface BackgroundRemoverConfig extends VisionConfig {
  /**
   * What the model's output holds. Default: what the last operator of its graph makes; where that does not tell,
   * logits if the map of a photo has a number beyond 0..1.
   */
  readonly output?: 'logits' | 'probabilities';
}

/**
 * Removes the background of a photo. The model's output is one map, `[rows, 1, height, width]`, of how much of each pixel
 * is foreground: in 0..1, or logits, of which the sigmoid is taken. It is interpolated bilinearly to the size of the
 * upright photo. The colors of edges are freed of the background's, by the blur fusion of Forte, 2021. The default
 * transforms are those of BiRefNet.
 * @answer `{ width, height, data }`: the photo's pixels with alpha, RGBA; `paintPicture` makes them an `ImageData`
 */
export class BackgroundRemover extends VisionHandler<Picture> {
  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['BriaRMBG', 'BiRefNet', 'MODNet', 'ISNet', 'ISNetDIS', 'U2NET', 'U2Net', 'ForImageSegmentation'],
    modelTypes: ['modnet', 'birefnet', 'isnet', 'u2net'],
    processor: 'image',
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 90, reads: 'images', main: { rank: 4, isLogits: false, channels: 1 } },
  ];

  declare readonly configType?: BackgroundRemoverConfig;
  static override readonly schema: ConfigSchema = BACKGROUND_REMOVER_SCHEMA;

  override imageProcessing = compose(
    resize([1024, 1024]),
    toTensor(),
    normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
  );

  /** The pixels of each row's photo, RGBA. */
  readonly #photos = new WeakMap<Context, OnArrayBuffer<Uint8ClampedArray>[]>();

  /**
   * Opens the model and checks its output.
   * @throws `model-config` if the output is not one map of floats, or not what `handler.output` says
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config);
    const { dims } = this.outputInfo;
    if (dims.length > 0) this.#form(dims);
    const kind = this.#kind;
    const fault = kind && activationFault(this.outputInfo, kind);
    if (fault !== undefined) throw new TabServeError('model-config', fault);
  }

  /** What the output holds; undefined if only its numbers tell. */
  get #kind(): ScoreKind | undefined {
    return (this.config['output'] as ScoreKind | undefined) ?? kindByOperator(this.outputInfo);
  }

  #form<S extends DimSize>(dims: readonly S[]): MapForm<S | 1> {
    const likely = isChannelsLast(this.imageProcessing) ? 'NHWC' : 'NCHW';
    const form = mapForm(dims, {
      layout: dims.at(-1) === 1 && dims[1] !== 1 ? 'NHWC' : undefined,
      likely,
      input: [null, null],
    });
    if (typeof form.channels !== 'number' || form.channels === 1) return form;
    throw new TabServeError(
      'model-config',
      `handler.outputName: a background remover needs a map of one channel, but the output has ${form.channels}. Name another output, or use image_segmenter.`,
    );
  }

  protected override async keep(image: DecodedImage, index: number, context: Context): Promise<void> {
    const { format, width, height, stride, data } = await image.read();
    const pixels = new Uint8ClampedArray(width * height * 4);
    const step = PIXEL_BYTES[format];
    for (let channel = 0; channel < 3; channel++)
      for (let y = 0, to = channel; y < height; y++)
        for (let x = 0, from = y * stride + channelByte(format, channel); x < width; x++, to += 4, from += step)
          pixels[to] = data[from]!;
    const rows = this.#photos.get(context) ?? [];
    rows[index] = pixels;
    this.#photos.set(context, rows);
  }

  /** Converts the model's output to one picture for each row, and transfers its pixels to the page. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => Promise<Picture> {
    const { name } = this.outputInfo;
    const output = numbersOf(outputs, name);
    checkRows(name, output, context.systemProperties.batchSize);
    checkFilled(name, output);
    return async (index) => {
      const data = this.#photos.get(context)?.[index];
      if (!data)
        throw new TabServeError(
          'invalid-input',
          'A background remover returns the pixels of a photo, but the input is a tensor. Pass an image.',
        );
      const part = slice(output, index, index + 1);
      const values = toFloats(part);
      const kind = this.#kind ?? (values.every((value) => value >= 0 && value <= 1) ? 'probabilities' : 'logits');
      checkScores(values, kind);
      const form = this.#form(part.dims) as MapForm;
      const map = probabilityMap({ ...form, data: values }, kind, 1);
      const placement = this.requirePlacement(index, context);
      const { width, height } = placement;
      await cutOut(data, bilinear(map, gridOf(form, placement)), { width, height }, () => pause(context));
      return transferResult({ width, height, data }, [data.buffer]);
    };
  }
}

import type { Context } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Tensors } from '../../../contract/tensors.js';
import type { Line } from './interpolate.js';
import { depthMap, type DepthMap } from './depth.js';
import { checkFilled, numbersOf, rowPart } from '../../outputs/rows.js';
import { checkScores } from '../../outputs/scores.js';
import { toFloats } from '../../tensors/tensors.js';
import { compose, normalize, resize, toTensor } from '../../transforms/index.js';
import type { Placement } from '../../handlers/placements.js';
import { floatOutput } from '../../outputs/floats.js';
import { VisionHandler } from '../../handlers/vision-handler.js';

export type { DepthMap } from './depth.js';

/** DepthPro's output: degrees, one number for each photo. */
const VIEW = 'field_of_view';

/**
 * Estimates how far each pixel of a photo is, as transformers' pipeline `depth-estimation` does. The model's output is a
 * map, `[rows, height, width]` with or without an axis of one channel. It is interpolated to the size of the upright
 * photo, bicubically; what a step before the tensor added around the photo is cut off. Of a model with an output
 * `field_of_view`, DepthPro, the map becomes distances by this view. The default transforms are those of Depth
 * Anything, for a square.
 * @answer `{ width, height, depth, min, max }`: what the model predicts for each pixel, in the size of the image, and the
 *   range of it; `paintDepth` makes it an `ImageData`
 */
export class DepthEstimator extends VisionHandler<DepthMap> {
  static override readonly huggingFace: HuggingFaceTask = { architectures: ['ForDepthEstimation'], processor: 'image' };

  static override readonly nearest: readonly Signature[] = [
    { order: 60, reads: 'images', outputs: ['predicted_depth'] },
  ];

  override imageProcessing = compose(
    resize([518, 518], { interpolation: 'bicubic' }),
    toTensor(),
    normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
  );

  /**
   * Opens the model and checks its output.
   * @throws `model-config` if the output is no map of floats, or if a step crops the photo, whose rest has no depth
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config);
    const { name, dtype, dims } = this.outputInfo;
    if (dims.length > 0 && dims.length !== 3 && dims.length !== 4)
      throw new TabServeError(
        'model-config',
        `handler.outputName: a depth estimator needs floats [rows, height, width], but the output "${name}" is ${dtype ?? 'of unknown dtype'} [${dims.map((size) => size ?? '?').join(', ')}]. Name another output.`,
      );
    if (this.imageProcessing.some((step) => 'centerCrop' in step))
      throw new TabServeError(
        'model-config',
        'handler.imageProcessing: centerCrop leaves parts of the photo without a depth. Use resize to [height, width], or letterbox.',
      );
  }

  protected override rowResults(outputs: Tensors, context: Context): (index: number) => DepthMap {
    const { name } = this.outputInfo;
    const output = numbersOf(outputs, name);
    checkFilled(name, output);
    const rows = context.systemProperties.batchSize;
    const views = Object.hasOwn(outputs, VIEW) ? numbersOf(outputs, VIEW) : undefined;
    return (index) => {
      const part = rowPart(name, output, index, rows);
      const size = sizeOf(part.dims);
      if (!size)
        throw new TabServeError(
          'inference-failed',
          `The output "${name}" has the dims [${output.dims.join(', ')}]; a depth estimator needs [rows, height, width]. Name another output in handler.outputName.`,
        );
      const data = toFloats(part);
      checkScores(data, 'logits', false);
      const lines = this.#lines(this.requirePlacement(index, context), size);
      const [view] = views ? toFloats(rowPart(VIEW, views, index, rows)) : [];
      return depthMap({ data, ...size }, lines.columns, lines.rows, view);
    };
  }

  /**
   * Returns where the pixels of the photo lie in the map. A tensor that is padded after its pixels are normalized is not
   * undone: the models of DPT that have this were trained to return a map of the photo alone.
   */
  #lines(placement: Placement, { width, height }: MapSize): { readonly columns: Line; readonly rows: Line } {
    const { geometry, tensorWidth, tensorHeight } = placement;
    if (this.imageProcessing.some((step) => 'padTensor' in step))
      return {
        columns: { size: placement.width, scale: width / placement.width, offset: 0 },
        rows: { size: placement.height, scale: height / placement.height, offset: 0 },
      };
    const [x, y] = [width / tensorWidth, height / tensorHeight];
    return {
      columns: { size: placement.width, scale: geometry.scaleX * x, offset: geometry.offsetX * x },
      rows: { size: placement.height, scale: geometry.scaleY * y, offset: geometry.offsetY * y },
    };
  }
}

interface MapSize {
  readonly width: number;
  readonly height: number;
}

/** Returns the size of a map of one channel, with or without its axis; undefined if the dims are those of no such map. */
function sizeOf(dims: readonly number[]): MapSize | undefined {
  const [a, b, c] = dims as [number, number, number];
  if (dims.length === 2) return { height: a, width: b };
  if (dims.length !== 3) return undefined;
  return a === 1 ? { height: b, width: c } : c === 1 ? { height: a, width: b } : undefined;
}

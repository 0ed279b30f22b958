import { TabServeError, type PredictionError } from '../../../contract/errors.js';
import type { Context, NodeHandler } from '../../../contract/handler.js';
import type { DecodedImage, ImageInput, Rect } from '../../../contract/images.js';
import type { Tensors } from '../../../contract/tensors.js';
import { nextTask } from '../../../shared/next-task.js';
import { ImageCrop } from '../../transforms/crop-image.js';
import { compileTransforms } from '../../transforms/index.js';
import { isChannelsLast } from '../../handlers/image-input.js';
import type { Placement } from '../../handlers/placements.js';
import { VisionHandler } from '../../handlers/vision-handler.js';

/** What the model of landmarks returns for an image, and where the image lies in its tensor. */
export interface PlacedOutputs {
  readonly outputs: Tensors;
  readonly placement: Placement;
}

/** The node `landmarks`: a `vision_handler` whose outputs come with the placement of the image. */
export class LandmarkModel extends VisionHandler<PlacedOutputs> {
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => PlacedOutputs {
    const own = super.rowResults(outputs, context) as unknown as (index: number) => Tensors;
    return (index) => ({ outputs: own(index), placement: this.requirePlacement(index, context) });
  }

  /** Returns a part of an open photo as it is. */
  protected override async decode(
    input: ImageInput | ImageCrop,
    index: number,
    context: Context,
  ): Promise<DecodedImage> {
    return input instanceof ImageCrop ? input : await super.decode(input, index, context);
  }

  /** Whether the model takes one image at a time. */
  get takesOne(): boolean {
    return this.inputInfo.dims[0] === 1;
  }

  /** The sides that the model's input declares, in pixels. */
  get declaredSize(): Pick<Rect, 'width' | 'height'> | undefined {
    return this.fixedSize;
  }

  /** The sides of the images that the model takes, in pixels; undefined if neither it nor `imageProcessing` fixes them. */
  get size(): { readonly columns: number; readonly rows: number } | undefined {
    if (this.fixedSize) return { columns: this.fixedSize.width, rows: this.fixedSize.height };
    const transforms = compileTransforms(this.imageProcessing);
    const sides = [transforms.outputDims(640, 480), transforms.outputDims(481, 641)].map((dims) =>
      isChannelsLast(this.imageProcessing) ? dims.slice(0, 2) : dims.slice(1),
    );
    const [[rows, columns], other] = sides as [[number, number], [number, number]];
    return rows === other[0] && columns === other[1] ? { columns, rows } : undefined;
  }
}

/** Returns the side of the square images that the model of a node takes. @throws `model-config` if there is none */
export function sideOf({ node, handler: { inputInfo } }: NodeHandler<VisionHandler<unknown>>): number {
  const [, first, side, last] = inputInfo.dims;
  // One of the two is the channels.
  if (inputInfo.dims.length === 4 && typeof side === 'number' && (side === first || side === last)) return side;
  throw new TabServeError(
    'model-config',
    `Node "${node}": the model must take square images of one size, but its input "${inputInfo.name}" has the dims [${inputInfo.dims.map((one) => one ?? '?').join(', ')}].`,
  );
}

/**
 * Runs the model of landmarks on parts of a photo. If it takes one image at a time, they are batches of one: these may
 * be cut out on the GPU that the model runs on.
 */
export async function runOnCrops(
  landmarks: NodeHandler<LandmarkModel>,
  crops: readonly ImageCrop[],
  context: Context,
): Promise<readonly (PlacedOutputs | PredictionError)[]> {
  // `LandmarkModel` takes them as images.
  const inputs = crops as readonly unknown[] as readonly ImageInput[];
  if (!landmarks.handler.takesOne) return await landmarks.handle(inputs, context);
  const rows: (PlacedOutputs | PredictionError)[] = [];
  for (const input of inputs) {
    rows.push(...(await landmarks.handle([input], context)));
    // A message may end the workflow.
    await nextTask();
  }
  return rows;
}

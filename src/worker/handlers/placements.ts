import { TabServeError } from '../../contract/errors.js';
import type { Context } from '../../contract/handler.js';
import { axis, type Grid } from '../outputs/interpolate.js';
import type { MapForm } from '../outputs/maps.js';
import type { Geometry } from '../transforms/index.js';

/**
 * Where an image lies in its tensor: both sizes in pixels, and the map from points of the upright image to the tensor.
 */
export interface Placement {
  readonly width: number;
  readonly height: number;
  readonly tensorWidth: number;
  readonly tensorHeight: number;
  readonly geometry: Geometry;
  /**
   * The size of the part at the top left of the tensor that is the image's, where the model's `pixel_mask` says that the
   * rest is padding. Fractions in the model's boxes are of this part. Default: the size of the tensor.
   */
  readonly content?: { readonly width: number; readonly height: number };
}

/**
 * Returns the grid that samples the model's map at the pixels of the image or, without a placement, at the map's own
 * pixels.
 */
export function gridOf({ width, height }: Pick<MapForm, 'width' | 'height'>, placement: Placement | undefined): Grid {
  if (!placement) return { columns: axis(width, width), rows: axis(height, height) };
  const { tensorWidth, tensorHeight, geometry } = placement;
  const [x, y] = [width / tensorWidth, height / tensorHeight];
  return {
    columns: axis(placement.width, width, geometry.scaleX * x, geometry.offsetX * x),
    rows: axis(placement.height, height, geometry.scaleY * y, geometry.offsetY * y),
  };
}

/** The placements of the rows of every batch that is running. They are gone with the batch's context. */
export class Placements {
  readonly #batches = new WeakMap<Context, Placement[]>();

  set(index: number, context: Context, placement: Placement): void {
    const rows = this.#batches.get(context) ?? [];
    rows[index] = placement;
    this.#batches.set(context, rows);
  }

  get(index: number, context: Context): Placement | undefined {
    return this.#batches.get(context)?.[index];
  }

  /**
   * @param handler the class whose `preprocess` should have recorded it
   * @throws `handler-failed` if it did not
   */
  require(index: number, context: Context, handler: string): Placement {
    const placement = this.get(index, context);
    if (placement) return placement;
    throw new TabServeError(
      'handler-failed',
      `${handler} returns results in pixels of the image, but its preprocess did not record where the image of row ${index} lies in the tensor. Call this.place(index, context, placement) for each row in preprocess.`,
    );
  }
}

import type { Context } from '../contract/handler.js';
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
}

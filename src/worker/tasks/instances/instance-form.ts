import { TabServeError } from '../../../contract/errors.js';
import type { MaybePromise } from '../../../contract/handler.js';
import type { OutputInfo } from '../../../contract/tensors.js';
import { describeOutputs, type TensorView } from '../../outputs/boxes/decoder.js';
import type { Maps } from '../../outputs/maps.js';
import type { Segment } from './queries.js';
import type { Placement } from '../../handlers/placements.js';

/** Returns the value of a row's parameter. */
export type RowParam = <T = number>(name: string) => T;

/** A form in which models say which objects there are in a photo, and where. */
export interface InstanceForm {
  /** The names of the outputs that are read, in the order of `views`. */
  readonly outputs: readonly string[];
  /** Whether the outputs have a batch axis. If not, the model runs once for each photo. */
  readonly isBatched: boolean;
  /** The number of classes; undefined if it is unknown before the model runs. */
  readonly classes: number | undefined;
  /** A note on that number, for a message. */
  readonly note?: string;
  /** The defaults of params that differ between the forms. */
  readonly defaults: Readonly<Record<string, number>>;
  /** Keys and params that only other forms have. */
  readonly unused: readonly string[];
  /**
   * Returns what one photo shows, best first.
   * @param pause is called every few tenths of a second; what it throws ends the work
   * @throws `inference-failed`, `model-config`
   */
  segments(
    views: readonly TensorView[],
    placement: Placement,
    param: RowParam,
    pause: () => MaybePromise<void>,
  ): Promise<readonly Segment[]>;
}

/** Returns the maps of one photo, `[channels, height, width]`. */
export function mapsOf({ dims, data }: TensorView): Maps {
  const [channels, height, width] = dims as [number, number, number];
  return { data, channels, width, height, layout: 'NCHW' };
}

/** Returns the error for outputs that a form does not read. */
export function misfit(
  name: string,
  expected: string,
  outputs: readonly Pick<OutputInfo, 'name' | 'dims'>[],
): TabServeError {
  return new TabServeError(
    'model-config',
    `handler.decoder: for ${name}, an instance segmenter needs ${expected}; the model gives ${describeOutputs(outputs)}. Choose the decoder or handler.outputName to match the model, or use image_segmenter for one map of classes.`,
  );
}

import { PredictionError } from '../../../contract/errors.js';
import type { Context, InputKind, NodeHandler } from '../../../contract/handler.js';
import type { ImageInput } from '../../../contract/images.js';
import type { Detection } from '../../outputs/boxes/detection.js';
import { NO_TRACKS, track, type TrackerState } from '../../outputs/tracking/byte-track.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { loadHandler, type HandlerOf } from '../../handlers/registry.js';
import { WorkflowHandler } from '../../handlers/workflow-handler.js';
import { OBJECT_TRACKER_SCHEMA } from './schemas.js';

/** Boxes of a lower score help no track. */
const MIN_SCORE = 0.1;

/** An object that is followed. */
export interface TrackedObject extends Detection {
  /** The same number in each frame of a sequence, from 1 on. */
  readonly id: number;
}

/** The `params` of an object tracker. */
export interface ObjectTrackerParams {
  /**
   * Boxes of a higher score are matched first, and those 0.1 above it begin a track. ByteTrack: track_thresh.
   * @minimum 0
   * @maximum 0.9
   * @default 0.25
   */
  readonly trackThreshold?: number;
  /**
   * The largest cost of a match, 1 − IoU · score. ByteTrack: match_thresh.
   * @minimum 0
   * @maximum 1
   * @default 0.8
   */
  readonly matchThreshold?: number;
  /**
   * For how many frames an object that is not seen keeps its id. ByteTrack: track_buffer.
   * @integer
   * @minimum 0
   * @maximum 10000
   * @default 30
   */
  readonly lostFrames?: number;
}

/**
 * Gives the objects of a detector ids that stay with them from frame to frame: ByteTrack's association in two stages.
 * The node `detect` is any detector that `object_detector` runs. The frames are requests of a sequence, whose state the
 * page holds; a request of none is a first frame. An object that is new is in the answer from its second frame on, or
 * in the first frame of the sequence. Boxes are compared in pixels: for frames of another size, open another sequence. The 500
 * boxes of a frame with the highest scores get ids, and the last 500 objects that are not seen keep theirs.
 * @answer `[{ id, label, score, box: { xmin, ymin, xmax, ymax } }, …]`, best first; boxes in pixels of the image ([a
 *   sample](sequences.md#objects-that-keep-their-ids))
 */
export class ObjectTracker extends WorkflowHandler<ImageInput, readonly TrackedObject[]> {
  declare readonly paramsType?: ObjectTrackerParams;

  static override readonly takes: InputKind = 'image';
  static override readonly schema: ConfigSchema = OBJECT_TRACKER_SCHEMA;

  #detect!: NodeHandler<HandlerOf<'object_detector'>>;

  /** Opens the node. @throws what opening a node throws */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.#detect = await context.openHandler('detect', await loadHandler('object_detector'));
  }

  override async inference(
    photos: readonly ImageInput[],
    context: Context,
  ): Promise<readonly (readonly TrackedObject[] | PredictionError)[]> {
    const found = await this.#detect.handle(photos, context, {
      params: { scoreThreshold: MIN_SCORE, result: 'typed' },
    });
    return found.map((objects, index) =>
      objects instanceof PredictionError ? objects : this.#follow(objects, index, context),
    );
  }

  #follow(objects: readonly Detection[], index: number, context: Context): readonly TrackedObject[] {
    const { state, ids } = track(
      (context.state(index) as TrackerState | undefined) ?? NO_TRACKS,
      objects.map(({ box }) => box),
      objects.map(({ score }) => score),
      {
        highScore: this.param('trackThreshold', index, context),
        maxCost: this.param('matchThreshold', index, context),
        maxLost: this.param('lostFrames', index, context),
      },
    );
    context.setState(index, state);
    return objects.flatMap((object, at) => (ids[at] === undefined ? [] : [{ id: ids[at], ...object }]));
  }
}

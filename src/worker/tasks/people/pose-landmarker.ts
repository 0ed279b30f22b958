import type { Context, Params } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Region } from '../../../contract/images.js';
import type { Signature } from '../../../contract/task.js';
import type { Tensors } from '../../../contract/tensors.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import {
  BLAZE_POSE_OUTPUTS,
  blazePoseOutputs,
  blazePoseRegion,
  readBlazePose,
  withMasks,
  type BlazePoseOutputs,
  type BlazePoseReading,
  type PoseLandmarks,
} from './blaze-pose.js';
import type { Reading } from './follow.js';
import { FormPoses } from './form-poses.js';
import type { FoundFace } from './found.js';
import { LandmarkWorkflow, type LandmarkerParams, type PhotoRow } from './landmark-workflow.js';
import { poseFormOf } from './pose-forms.js';
import { POSE_LANDMARKER_SCHEMA } from './schemas.js';

export type { PoseLandmarks } from './blaze-pose.js';

/** The `params` of `pose_landmarker`. */
export interface PoseLandmarkerParams extends LandmarkerParams {
  /**
   * Whether each person has a mask: its pixels of the photo. Only for BlazePose.
   * @default false
   */
  readonly mask?: boolean;
  /**
   * The least score of a person. Default: 0.5 for BlazePose, otherwise 0.25.
   * @minimum 0
   * @maximum 1
   */
  readonly scoreThreshold?: number;
}

/** The least score of a person, by models other than BlazePose: Ultralytics' and MoveNet's own default. */
const MIN_SCORE = 0.25;

/** The keys of `handler:` that only the config sets. */
export interface PoseLandmarkerConfig {
  /** The names of the outputs of the node `landmarks`. */
  readonly outputs?: {
    /** The name of the output with the landmarks. Default: ld_3d. */
    readonly landmarks?: string;
    /** The name of the output with the presence. Default: output_poseflag. */
    readonly presence?: string;
    /** The name of the output with the heatmap. Default: activation_heatmap. */
    readonly heatmap?: string;
    /** The name of the output with the mask. Default: activation_segmentation. */
    readonly mask?: string;
  };
  /**
   * The form of the outputs: MediaPipe's (blazepose), MoveNet's (movenet), Ultralytics' pose models' (yolov8,
   * which YOLO11 has, too; rows, if the model removes overlapping boxes itself), RTMPose's (simcc), or ViTPose's
   * (heatmaps). Default: by the outputs, and by what Ultralytics writes in the file.
   */
  readonly decoder?: 'blazepose' | 'movenet' | 'yolov8' | 'rows' | 'simcc' | 'heatmaps';
}

/**
 * Finds the points of bodies. The node `landmarks` is a `vision_handler`, and its outputs say in which form its model
 * answers, or `handler.decoder`:
 *
 * - MediaPipe's BlazePose (`lite`, `full` or `heavy`), with 33 points. The node `detect` is a `face_detector` with the
 *   anchors and the points of its detector of people; the model sees a square that is turned so that the person stands
 *   upright. Its heat maps refine the points.
 * - MoveNet and Ultralytics' pose models find people themselves, in the whole photo. There is no node `detect`.
 * - SimCC (RTMPose) and heat maps (ViTPose) find the points of one person in a crop. The node `detect` is any
 *   `object_detector` with the label "person"; without it the whole photo is one person.
 *
 * @answer `[{ id?, score, box: { xmin, ymin, xmax, ymax }, landmarks: [{ x, y, z?, score, name }, …], mask? }, …]`, in pixels
 *   of the image; `id` in a sequence ([people](people.md))
 */
export class PoseLandmarker extends LandmarkWorkflow<PoseLandmarks> {
  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForPoseEstimation'],
    processor: 'image',
    nodes: { landmarks: ['model'] },
    nodeProcessors: { landmarks: 'image' },
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 70, reads: 'images', outputs: ['heatmaps'] },
    // MoveNet: the points of one person, or of six.
    { order: 72, reads: 'images', main: { rank: 4, ends: [17, 3] } },
    { order: 74, reads: 'images', main: { rank: 3, ends: [6, 56] } },
  ];

  static override readonly ultralytics: string = 'pose';

  declare readonly paramsType?: PoseLandmarkerParams;

  declare readonly configType?: PoseLandmarkerConfig;
  static override readonly schema: ConfigSchema = POSE_LANDMARKER_SCHEMA;

  /** Undefined for BlazePose. */
  #poses: FormPoses | undefined;

  protected override readonly detectorPoints = 2;

  get #names(): BlazePoseOutputs {
    return { ...BLAZE_POSE_OUTPUTS, ...(this.config['outputs'] as Partial<BlazePoseOutputs>) };
  }

  protected override get outputs(): readonly { readonly name: string; readonly length: number }[] {
    return blazePoseOutputs(this.#names);
  }

  protected override get defaults(): Params {
    return { ...super.defaults, scoreThreshold: this.#poses ? MIN_SCORE : 0.5 };
  }

  protected override get follows(): boolean {
    return this.#poses?.follows ?? true;
  }

  protected override get detectsEachOnce(): boolean {
    return this.#poses !== undefined;
  }

  protected override async openDetector(context: Context): Promise<void> {
    const { config } = this;
    const decoder = (config['decoder'] as string | undefined) ?? (config['outputs'] ? 'blazepose' : undefined);
    const form = await poseFormOf(decoder, this.landmarks.handler, BLAZE_POSE_OUTPUTS.landmarks, context);
    if (!form) return await super.openDetector(context);
    const paramOf = <T>(name: string, row: PhotoRow): T => this.param<T>(name, row.index, row.context);
    this.#poses = await FormPoses.open(form, this.landmarks, config, paramOf, context);
  }

  protected override regionOf(found: FoundFace): Region {
    return blazePoseRegion(found);
  }

  protected override read(
    outputs: readonly Float32Array[],
    region: Region,
    side: number,
    all: Tensors,
  ): BlazePoseReading {
    return readBlazePose(outputs, region, side, all);
  }

  protected override async findRegions(row: PhotoRow): Promise<readonly Region[]> {
    return await (this.#poses ? this.#poses.findRegions(row) : super.findRegions(row));
  }

  protected override async readRegions(
    row: PhotoRow,
    regions: readonly Region[],
  ): Promise<readonly Reading<PoseLandmarks>[]> {
    if (this.#poses) return await this.#poses.readRegions(row, regions);
    const readings = (await super.readRegions(row, regions)) as readonly BlazePoseReading[];
    const masks = this.param<boolean>('mask', row.index, row.context);
    return masks ? await withMasks(readings, row.image, this.#names.mask) : readings;
  }
}

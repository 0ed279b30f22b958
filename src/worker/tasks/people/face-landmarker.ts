import { FACE_LANDMARKS } from '../../../shared/face-points.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import type { Reading } from './follow.js';
import { boxAround, type FoundFace } from './found.js';
import { readPoints } from './points.js';
import { regionOfBox, turnOf } from './region.js';
import type { Region } from '../../../contract/images.js';
import { LandmarkWorkflow, type FoundLandmarks } from './landmark-workflow.js';
import { FACE_LANDMARKER_SCHEMA } from './schemas.js';

export type { FoundLandmarks, LandmarkerParams } from './landmark-workflow.js';

/** A face with its landmarks: MediaPipe's 468 points, with their depth. */
export type FaceLandmarks = FoundLandmarks;

/** How many points the model finds. */
const COUNT = 468;
const { rightEyeOuter: RIGHT_EYE, leftEyeOuter: LEFT_EYE } = FACE_LANDMARKS;
const NAMES = new Map<number, string>(Object.entries(FACE_LANDMARKS).map(([name, at]) => [at, name]));
const RULE = { scale: 1.5 };
const OUTPUTS = { landmarks: 'output_mesh', presence: 'output_faceflag' } as const;

/** The keys of `handler:` that only the config sets. */
export interface FaceLandmarkerConfig {
  /** The names of the outputs of the node `landmarks`. */
  readonly outputs?: {
    /** The name of the output with the landmarks. Default: output_mesh. */
    readonly landmarks?: string;
    /** The name of the output with the presence. Default: output_faceflag. */
    readonly presence?: string;
  };
}

/**
 * Finds the 468 points of MediaPipe's face mesh. The node `detect` is a `face_detector`, the node `landmarks` a
 * `vision_handler` with the mesh model: it sees a square that is turned so that the eyes are level.
 * @answer `[{ id?, score, box: { xmin, ymin, xmax, ymax }, landmarks: [{ x, y, z, name? }, …] }, …]`, in pixels of the
 *   image; `id` in a sequence ([people](people.md))
 */
export class FaceLandmarker extends LandmarkWorkflow<FaceLandmarks> {
  declare readonly configType?: FaceLandmarkerConfig;
  static override readonly schema: ConfigSchema = FACE_LANDMARKER_SCHEMA;

  protected override readonly detectorPoints = 2;

  protected override get outputs(): readonly { readonly name: string; readonly length: number }[] {
    const { landmarks, presence } = { ...OUTPUTS, ...(this.config['outputs'] as Partial<typeof OUTPUTS>) };
    return [
      { name: landmarks, length: 3 * COUNT },
      { name: presence, length: 1 },
    ];
  }

  protected override regionOf({ box, landmarks: [rightEye, leftEye] }: FoundFace): Region {
    return regionOfBox(box, turnOf(rightEye!, leftEye!, 0), RULE);
  }

  protected override read(
    [points, presence]: readonly Float32Array[],
    region: Region,
    side: number,
  ): Reading<FaceLandmarks> {
    const landmarks = readPoints(points!, { count: COUNT, stride: 3, side, region }).map((point, at) => {
      const name = NAMES.get(at);
      return name === undefined ? point : { ...point, name };
    });
    const box = boxAround(landmarks);
    const next = regionOfBox(box, turnOf(landmarks[RIGHT_EYE]!, landmarks[LEFT_EYE]!, 0), RULE);
    return { found: { score: presence![0]!, box, landmarks }, next };
  }
}

import type { ConfigSchema } from '../../shared/schema.js';
import { boxAround, type FoundFace } from '../outputs/people/found.js';
import { refinePoints } from '../outputs/people/heat-maps.js';
import { POSE_LANDMARKS } from '../outputs/people/names.js';
import { readPoints } from '../outputs/people/points.js';
import { regionOfCircle, turnOf, type Point } from '../outputs/people/region.js';
import { logistic } from '../outputs/scores.js';
import type { Region } from '../../contract/images.js';
import { LandmarkWorkflow, type FoundLandmarks, type Reading } from './landmark-workflow.js';
import { outputsSchema } from './landmark-outputs.js';

/** A person with the 33 landmarks of the body, each with its `score`: how likely it is visible. */
export type PoseLandmarks = FoundLandmarks;

/** Behind the body's landmarks come two that say where it is, and others that have no use here. */
const COUNT = 39;
const [HIPS, CIRCLE] = [33, 34];
/** Numbers of a landmark: x, y, z, and the logits of being visible and of being in the picture. */
const STRIDE = 5;
const VISIBLE = 3;
/** The side of the heat maps. */
const MAP = 64;
const UP = Math.PI / 2;
const RULE = { scale: 1.25 };
const OUTPUTS = { landmarks: 'ld_3d', presence: 'output_poseflag', heatmap: 'activation_heatmap' } as const;

/**
 * Finds the 33 points of bodies with MediaPipe's BlazePose. The node `detect` is a `face_detector` with the anchors and
 * the points of its detector of people, the node `landmarks` a `vision_handler` with the model `lite`, `full` or
 * `heavy`, which sees a square that is turned so that the person stands upright. Its heat maps refine the points.
 * @answer `[{ id?, score, box: { xmin, ymin, xmax, ymax }, landmarks: [{ x, y, z, score, name }, …] }, …]`, in pixels of the
 *   image; `id` in a sequence ([people](people.md))
 */
export class PoseLandmarker extends LandmarkWorkflow<PoseLandmarks> {
  static override readonly schema: ConfigSchema = { outputs: outputsSchema(OUTPUTS) };

  protected override readonly detectorPoints = 2;

  protected override get outputs(): readonly { readonly name: string; readonly length: number }[] {
    const { landmarks, presence, heatmap } = { ...OUTPUTS, ...(this.config['outputs'] as Partial<typeof OUTPUTS>) };
    return [
      { name: landmarks, length: STRIDE * COUNT },
      { name: presence, length: 1 },
      { name: heatmap, length: MAP * MAP * COUNT },
    ];
  }

  protected override regionOf({ landmarks: [hips, edge] }: FoundFace): Region {
    return regionAround(hips!, edge!);
  }

  protected override read(
    [points, presence, heatmap]: readonly Float32Array[],
    region: Region,
    side: number,
  ): Reading<PoseLandmarks> {
    const refined = refinePoints(points!, { count: COUNT, stride: STRIDE, side }, { data: heatmap!, side: MAP });
    const placed = readPoints(refined, { count: COUNT, stride: STRIDE, side, region });
    const landmarks = POSE_LANDMARKS.map((name, at) => ({
      ...placed[at]!,
      score: logistic(points![at * STRIDE + VISIBLE]!),
      name,
    }));
    const found = { score: presence![0]!, box: boxAround(landmarks), landmarks };
    return { found, next: regionAround(placed[HIPS]!, placed[CIRCLE]!) };
  }
}

/** Returns the region of a person. @param hips the middle of the hips @param edge a point on a circle around the person */
function regionAround(hips: Point, edge: Point): Region {
  return regionOfCircle(hips, edge, turnOf(hips, edge, UP), RULE);
}

/** What MediaPipe's BlazePose makes of a region: the points of a body, and the mask of the person. */
import { TabServeError } from '../../../contract/errors.js';
import type { DecodedImage, Region } from '../../../contract/images.js';
import type { Tensors } from '../../../contract/tensors.js';
import { loadScript } from '../../../shared/load-script.js';
import { numbersOf } from '../../outputs/rows.js';
import type { RunMask } from '../../outputs/runs.js';
import { checkScores, logistic } from '../../outputs/scores.js';
import { toFloats } from '../../tensors/tensors.js';
import type { Reading } from './follow.js';
import { boxAround, type FoundFace, type FoundLandmarks } from './found.js';
import { refinePoints } from './heat-maps.js';
import { POSE_LANDMARKS } from './names.js';
import { readPoints } from './points.js';
import { regionOfCircle, turnOf, type Point } from './region.js';

/** A person with the landmarks of the body, each with its `score`: how likely it is visible. */
export interface PoseLandmarks extends FoundLandmarks {
  /** With the param `mask`: the person's pixels in the upright photo. */
  readonly mask?: RunMask;
}

/** What BlazePose has made of a region, with what its mask is made of. */
export interface BlazePoseReading extends Reading<PoseLandmarks> {
  readonly seen: Region;
  readonly all: Tensors;
}

/** The usual names of the outputs. */
export const BLAZE_POSE_OUTPUTS = {
  landmarks: 'ld_3d',
  presence: 'output_poseflag',
  heatmap: 'activation_heatmap',
  mask: 'activation_segmentation',
} as const;

/** The names of the outputs. */
export type BlazePoseOutputs = Readonly<Record<keyof typeof BLAZE_POSE_OUTPUTS, string>>;

/** After the body's landmarks come two that say where it is, and others that have no use here. */
const COUNT = 39;
const [HIPS, CIRCLE] = [33, 34];
/** Numbers of a landmark: x, y, z, and the logits of being visible and of being in the picture. */
const STRIDE = 5;
const VISIBLE = 3;
/** The side of the heat maps. */
const MAP = 64;
const UP = Math.PI / 2;
const RULE = { scale: 1.25 };

/** Returns the outputs that `readBlazePose` takes, in its order, with the lengths of a row. */
export function blazePoseOutputs({
  landmarks,
  presence,
  heatmap,
}: BlazePoseOutputs): readonly { readonly name: string; readonly length: number }[] {
  return [
    { name: landmarks, length: STRIDE * COUNT },
    { name: presence, length: 1 },
    { name: heatmap, length: MAP * MAP * COUNT },
  ];
}

/** Returns the region of a person that the detector has found. */
export function blazePoseRegion({ landmarks: [hips, edge] }: FoundFace): Region {
  return regionAround(hips!, edge!);
}

/**
 * Converts what the model has made of a region.
 * @param outputs as `blazePoseOutputs` lists them @param side of the crop @param all outputs of the model
 * @throws `inference-failed` for heat maps that are not finite
 */
export function readBlazePose(
  [points, presence, heatmap]: readonly Float32Array[],
  region: Region,
  side: number,
  all: Tensors,
): BlazePoseReading {
  // The mean of positions, weighted by logits, may lie anywhere.
  checkScores(heatmap!, 'probabilities', false);
  const refined = refinePoints(points!, { count: COUNT, stride: STRIDE, side }, { data: heatmap!, side: MAP });
  const placed = readPoints(refined, { count: COUNT, stride: STRIDE, side, region });
  const landmarks = POSE_LANDMARKS.map((name, at) => ({
    ...placed[at]!,
    score: logistic(points![at * STRIDE + VISIBLE]!),
    name,
  }));
  const found = { score: presence![0]!, box: boxAround(landmarks), landmarks };
  return { found, next: regionAround(placed[HIPS]!, placed[CIRCLE]!), seen: region, all };
}

/** Returns readings with the masks of the people. @param name of the output with the masks @throws `model-config` */
export async function withMasks(
  readings: readonly BlazePoseReading[],
  image: DecodedImage,
  name: string,
): Promise<readonly Reading<PoseLandmarks>[]> {
  const bodyMask = await loadScript(async () => (await import('./body-mask.js')).bodyMask);
  return readings.map(({ found, next, seen, all }) => {
    const map = toFloats(numbersOf(all, name));
    checkScores(map, 'probabilities', false);
    const side = Math.sqrt(map.length);
    if (!Number.isInteger(side))
      throw new TabServeError(
        'model-config',
        `The output "${name}" has ${map.length} numbers for a person, which are no square map. Name the one with the mask in handler.outputs.`,
      );
    return { found: { ...found, mask: bodyMask(map, side, seen, image) }, next };
  });
}

/** Returns the region of a person. @param hips the middle of the hips @param edge a point on a circle around the person */
function regionAround(hips: Point, edge: Point): Region {
  return regionOfCircle(hips, edge, turnOf(hips, edge, UP), RULE);
}

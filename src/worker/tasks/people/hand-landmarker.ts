import type { ConfigSchema } from '../../../shared/schema.js';
import type { Reading } from './follow.js';
import { boxAround, type FoundFace } from './found.js';
import { HAND_LANDMARKS } from './names.js';
import { readPoints } from './points.js';
import { regionOfBox, regionOfPoints, turnOf, type Point } from './region.js';
import type { Region } from '../../../contract/images.js';
import { LandmarkWorkflow, type FoundLandmarks } from './landmark-workflow.js';
import { HAND_LANDMARKER_SCHEMA } from './schemas.js';

/** A hand with its 21 landmarks. */
export interface HandLandmarks extends FoundLandmarks {
  /** Which hand of the person it is, in a photo that is not mirrored. */
  readonly handedness: 'left' | 'right';
  /** How likely it is that hand, in 0.5..1. */
  readonly handednessScore: number;
}

const COUNT = HAND_LANDMARKS.length;
/** Upwards: from the wrist to the middle finger. */
const UP = Math.PI / 2;
/** The index of the middle finger's first joint among the points of a palm. */
const PALM_MIDDLE = 2;
const [FROM_PALM, FROM_LANDMARKS] = [
  { scale: 2.6, shift: -0.5 },
  { scale: 2, shift: -0.1 },
];
/** The points that say where the hand is in the next frame: those of the palm, and the first joints of the fingers. */
const STEADY = [0, 1, 2, 3, 5, 6, 9, 10, 13, 14, 17, 18];
const [WRIST, INDEX, MIDDLE, RING] = [0, 5, 9, 13];
const OUTPUTS = { landmarks: 'Identity:0', presence: 'Identity_1:0', handedness: 'Identity_2:0' } as const;

/** The keys of `handler:` that only the config sets. */
export interface HandLandmarkerConfig {
  /** The names of the outputs of the node `landmarks`. */
  readonly outputs?: {
    /** The name of the output with the landmarks. Default: Identity:0. */
    readonly landmarks?: string;
    /** The name of the output with the presence. Default: Identity_1:0. */
    readonly presence?: string;
    /** The name of the output with the handedness. Default: Identity_2:0. */
    readonly handedness?: string;
  };
}

/**
 * Finds the 21 points of hands. The node `detect` is a `face_detector` with the anchors and the points of MediaPipe's
 * palm detector, the node `landmarks` a `vision_handler` with its model of hands, which sees a square that is turned so
 * that the fingers point upwards.
 * @answer `[{ id?, score, box: { xmin, ymin, xmax, ymax }, landmarks: [{ x, y, z, name }, …], handedness, handednessScore },
 *   …]`, in pixels of the image; `id` in a sequence ([people](people.md))
 */
export class HandLandmarker extends LandmarkWorkflow<HandLandmarks> {
  declare readonly configType?: HandLandmarkerConfig;
  static override readonly schema: ConfigSchema = HAND_LANDMARKER_SCHEMA;

  protected override readonly detectorPoints = 7;

  protected override get outputs(): readonly { readonly name: string; readonly length: number }[] {
    const names = { ...OUTPUTS, ...(this.config['outputs'] as Partial<typeof OUTPUTS>) };
    return [
      { name: names.landmarks, length: 3 * COUNT },
      { name: names.presence, length: 1 },
      { name: names.handedness, length: 1 },
    ];
  }

  protected override regionOf({ box, landmarks }: FoundFace): Region {
    return regionOfBox(box, turnOf(landmarks[0]!, landmarks[PALM_MIDDLE]!, UP), FROM_PALM);
  }

  protected override read(
    [points, presence, right]: readonly Float32Array[],
    region: Region,
    side: number,
  ): Reading<HandLandmarks> {
    const placed = readPoints(points!, { count: COUNT, stride: 3, side, region });
    const landmarks = placed.map((point, at) => ({ ...point, name: HAND_LANDMARKS[at]! }));
    const isRight = right![0]! >= 0.5;
    const found: HandLandmarks = {
      score: presence![0]!,
      box: boxAround(landmarks),
      landmarks,
      handedness: isRight ? 'right' : 'left',
      handednessScore: isRight ? right![0]! : 1 - right![0]!,
    };
    const steady = STEADY.map((at) => placed[at]!);
    return { found, next: regionOfPoints(steady, turnOf(placed[WRIST]!, knucklesOf(placed), UP), FROM_LANDMARKS) };
  }
}

/** Returns a point between the fingers: half the middle finger's, a quarter of each neighbour's. */
function knucklesOf(points: readonly Point[]): Point {
  const mean = (axis: 'x' | 'y'): number =>
    ((points[INDEX]![axis] + points[RING]![axis]) / 2 + points[MIDDLE]![axis]) / 2;
  return { x: mean('x'), y: mean('y') };
}

import { TabServeError } from '../../contract/errors.js';
import { FACE_LANDMARKS } from '../../shared/face-points.js';
import type { Landmark } from '../../worker/tasks/people/found.js';
import { between, checkLandmarks, cross, degrees, distance, dot, middle, unit, type Vector } from './vectors.js';

/** A face of `face_landmarker`. */
interface Face {
  readonly landmarks: readonly Landmark[];
}

/** How a head is turned, in degrees. A head that looks into the camera has zeros. */
export interface HeadPose {
  /** To the person's left; negative to the right. */
  readonly yaw: number;
  /** Upwards; negative downwards. */
  readonly pitch: number;
  /** Clockwise in the photo. */
  readonly roll: number;
}

/** What a face does, each in 0..1. Left and right are the person's own. */
export interface FaceMeasures {
  readonly eyeOpenLeft: number;
  readonly eyeOpenRight: number;
  readonly browUpLeft: number;
  readonly browUpRight: number;
  readonly mouthOpen: number;
  /** The corners of the mouth are up, and the mouth is wide. */
  readonly smile: number;
  /** The corners of the mouth are down. */
  readonly frown: number;
  /** The mouth is narrow, as for a kiss. */
  readonly pucker: number;
  /** The mouth is moved to a side. */
  readonly mouthLeft: number;
  readonly mouthRight: number;
}

const COUNT = 468;
/**
 * The minimal sine of the angle between the line of the eyes and that from forehead to chin; a smaller one is a
 * rounding error.
 */
const MIN_SINE = 1e-6;
/** The points of each eye as of Soukupová and Čech: the corners, and two pairs of lids. */
const LEFT_EYE = [263, 387, 385, 362, 380, 373];
const RIGHT_EYE = [33, 160, 158, 133, 153, 144];
/** The upper edges of the brows. */
const LEFT_BROW = [334, 296, 336, 293, 300];
const RIGHT_BROW = [105, 66, 107, 63, 70];

/**
 * Returns how a head is turned. Its axes are x, from the right to the left eye's outer corner, y, from forehead to chin,
 * made perpendicular to x, and z = x × y, in units of 1. They are the columns of Rz(roll) · Ry(−yaw) · Rx(−pitch), so
 * yaw = atan2(x₃, √(x₁² + x₂²)), pitch = −atan2(y₃, z₃) and roll = atan2(x₂, x₁). It is within 5° of the rotation that fits
 * MediaPipe's canonical face model best.
 * @throws `invalid-input` if the face has not 468 landmarks, one is not finite, or eyes, forehead and chin are on one line
 */
export function headPose(face: Face): HeadPose {
  const { x, y, z } = axesOf(face, 'headPose');
  return {
    yaw: degrees(Math.atan2(x[2], Math.hypot(x[0], x[1]))),
    pitch: -degrees(Math.atan2(y[2], z[2])),
    roll: degrees(Math.atan2(x[1], x[0])),
  };
}

/**
 * Returns ten measures of a face, by distances in space, in units of the distance d of the eyes' outer corners. Each goes
 * from 0 at one number to 1 at another:
 *
 * - `eyeOpen…`: the eye aspect ratio (|p₂ − p₆| + |p₃ − p₅|) / 2 |p₁ − p₄| (Soukupová and Čech, CVWW 2016), from 0.1 to 0.3
 * - `browUp…`: the mean height of the brow's upper edge above the middle of the eye's corners, from 0.22 to 0.36
 * - `mouthOpen`: the distance of the lips' inner edges by the mouth's width, from 0.03 to 0.7
 * - `smile`: the mean of two: how far the corners of the mouth are above the middle of the lips, from 0 to 0.06, and the
 *   mouth's width, from 0.58 to 0.75
 * - `frown`: how far they are below it, from 0.015 to 0.075
 * - `pucker`: the mouth's width, from 0.5 down to 0.3
 * - `mouthLeft`, `mouthRight`: how far the middle of the corners of the mouth is beside the middle of the eyes, from 0.06 to
 *   0.2
 *
 * The numbers are those of faces at rest and of what faces do, by eye: faces differ, so compare a face with itself.
 * @throws `invalid-input` if the face has not 468 landmarks, one is not finite, or eyes, forehead and chin are on one line
 */
export function faceMeasures(face: Face): FaceMeasures {
  const { x, y } = axesOf(face, 'faceMeasures');
  const { landmarks } = face;
  const at = (name: keyof typeof FACE_LANDMARKS): Landmark => landmarks[FACE_LANDMARKS[name]]!;
  const d = distance(at('rightEyeOuter'), at('leftEyeOuter'));
  const along = (axis: Vector, from: Landmark, to: Landmark): number => dot(axis, between(from, to)) / d;
  const eye = (points: readonly number[]): number => {
    const [p1, p2, p3, p4, p5, p6] = points.map((one) => landmarks[one]!);
    return (distance(p2!, p6!) + distance(p3!, p5!)) / (2 * distance(p1!, p4!));
  };
  const brow = (points: readonly number[], corners: readonly Landmark[]): number =>
    along(y, middle(points.map((one) => landmarks[one]!)), middle(corners));
  const corners = middle([at('mouthRight'), at('mouthLeft')]);
  const rise = along(y, corners, middle([at('upperLip'), at('lowerLip')]));
  const width = distance(at('mouthRight'), at('mouthLeft'));
  const aside = along(x, middle([at('rightEyeOuter'), at('leftEyeOuter')]), corners);
  return {
    eyeOpenLeft: part(eye(LEFT_EYE), 0.1, 0.3),
    eyeOpenRight: part(eye(RIGHT_EYE), 0.1, 0.3),
    browUpLeft: part(brow(LEFT_BROW, [at('leftEyeOuter'), at('leftEyeInner')]), 0.22, 0.36),
    browUpRight: part(brow(RIGHT_BROW, [at('rightEyeOuter'), at('rightEyeInner')]), 0.22, 0.36),
    mouthOpen: part(distance(at('upperLip'), at('lowerLip')) / width, 0.03, 0.7),
    smile: (part(rise, 0, 0.06) + part(width / d, 0.58, 0.75)) / 2,
    frown: part(-rise, 0.015, 0.075),
    pucker: part(-width / d, -0.5, -0.3),
    mouthLeft: part(aside, 0.06, 0.2),
    mouthRight: part(-aside, 0.06, 0.2),
  };
}

/** Returns how far a number is from `none` to `all`, in 0..1. The ratio of two lengths that are both 0 counts as 0. */
function part(value: number, none: number, all: number): number {
  const share = (value - none) / (all - none);
  return share > 0 ? Math.min(share, 1) : 0;
}

/** Returns the axes of a head: to its left, downwards, and away from where it looks. */
function axesOf({ landmarks }: Face, name: string): { readonly x: Vector; readonly y: Vector; readonly z: Vector } {
  checkLandmarks(landmarks, COUNT, name, 'a face');
  const { rightEyeOuter, leftEyeOuter, forehead, chin } = FACE_LANDMARKS;
  const x = unit(between(landmarks[rightEyeOuter]!, landmarks[leftEyeOuter]!));
  const down = between(landmarks[forehead]!, landmarks[chin]!);
  const across = cross(x, down);
  if (!(Math.hypot(...across) > MIN_SINE * Math.hypot(...down)))
    throw new TabServeError(
      'invalid-input',
      `${name} needs a face, but the outer corners of its eyes, its forehead and its chin are on one line.`,
    );
  const z = unit(across);
  return { x, y: cross(z, x), z };
}

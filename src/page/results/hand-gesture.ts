import type { Landmark } from '../../worker/tasks/people/found.js';
import { between, checkLandmarks, degrees, distance, dot, unit } from './vectors.js';

/** What a hand shows: MediaPipe's seven gestures, or none of them. */
export type HandGesture =
  | 'fist'
  | 'openPalm'
  | 'pointingUp'
  | 'thumbUp'
  | 'thumbDown'
  | 'victory'
  | 'iLoveYou'
  | 'none';

const COUNT = 21;
/** The joints of the fingers from the palm to the tip. */
const FINGERS = [5, 9, 13, 17];
const [THUMB_BASE, THUMB_TIP, LITTLE_BASE] = [2, 4, 17];
/** A finger is straight if it bends less, and bent if it bends more: in degrees. */
const [STRAIGHT, BENT] = [50, 80];
/** The thumb is out if its tip is farther from the little finger's base than its own base is, by this factor. */
const THUMB_OUT = 1.15;
/** The largest angle to the vertical of what points upwards or downwards, in degrees. */
const MAX_ANGLE = 45;

/**
 * Returns which gesture a hand of `hand_landmarker` shows: fingers that are straight and bent, and where the thumb is.
 *
 * - A finger's bend is the angle between its first bone (base to middle joint) and its last one: below 50° it is
 *   straight, above 80° bent, and between them neither, which is no gesture.
 * - The thumb is out if |tip − little finger's base| > 1.15 · |thumb's base − little finger's base|.
 * - `pointingUp`, `thumbUp` and `thumbDown` are within 45° of the photo's vertical.
 *
 * | gesture | thumb | index | middle | ring | little |
 * | --- | --- | --- | --- | --- | --- |
 * | `fist` | in | bent | bent | bent | bent |
 * | `openPalm` | out | straight | straight | straight | straight |
 * | `pointingUp` | in | straight, upwards | bent | bent | bent |
 * | `thumbUp`, `thumbDown` | out, upwards or downwards | bent | bent | bent | bent |
 * | `victory` | in | straight | straight | bent | bent |
 * | `iLoveYou` | out | straight | bent | bent | straight |
 * @throws `invalid-input` if the hand has not 21 landmarks, or one that is not finite
 */
export function handGesture({ landmarks }: { readonly landmarks: readonly Landmark[] }): HandGesture {
  checkLandmarks(landmarks, COUNT, 'handGesture', 'a hand');
  const at = (index: number): Landmark => landmarks[index]!;
  const bends = FINGERS.map((base) => bendOf(at(base), at(base + 1), at(base + 2), at(base + 3)));
  if (bends.some((bend) => !(bend < STRAIGHT || bend > BENT))) return 'none';
  const isOut = distance(at(THUMB_TIP), at(LITTLE_BASE)) > THUMB_OUT * distance(at(THUMB_BASE), at(LITTLE_BASE));
  const fingers = bends.map((bend) => (bend < STRAIGHT ? '1' : '0')).join('');
  const index = fromUp(at(FINGERS[0]!), at(FINGERS[0]! + 3));
  const thumb = fromUp(at(THUMB_BASE), at(THUMB_TIP));
  if (fingers === '0000' && !isOut) return 'fist';
  if (fingers === '0000' && thumb <= MAX_ANGLE) return 'thumbUp';
  if (fingers === '0000' && thumb >= 180 - MAX_ANGLE) return 'thumbDown';
  if (fingers === '1111' && isOut) return 'openPalm';
  if (fingers === '1000' && !isOut && index <= MAX_ANGLE) return 'pointingUp';
  if (fingers === '1100' && !isOut) return 'victory';
  return fingers === '1001' && isOut ? 'iLoveYou' : 'none';
}

/** Returns the angle between the first and the last bone of a finger, in degrees. */
function bendOf(base: Landmark, middle: Landmark, last: Landmark, tip: Landmark): number {
  const cosine = dot(unit(between(base, middle)), unit(between(last, tip)));
  return degrees(Math.acos(Math.min(Math.max(cosine, -1), 1)));
}

/** Returns the angle between a direction and the photo's upward one, in degrees. */
function fromUp(from: Landmark, to: Landmark): number {
  return degrees(Math.atan2(Math.abs(to.x - from.x), from.y - to.y));
}

/**
 * A Kalman filter of a box that moves at a constant velocity, as SORT, DeepSORT and ByteTrack have it: its state is the
 * center, the ratio of width to height, and the height. Each of the four has its own velocity, and no noise is shared,
 * so their covariances are four matrices of 2 × 2.
 */
import type { Box } from '../boxes/detection.js';

/** One of the four numbers of a box: its value, its velocity a frame, and their covariances. */
type Axis = readonly [value: number, velocity: number, ofValue: number, ofBoth: number, ofVelocity: number];

/** The center x and y, the ratio of width to height, and the height. */
export type Motion = readonly [Axis, Axis, Axis, Axis];

/** The standard deviations of a position and of its velocity, in heights of the box. */
const [POSITION, VELOCITY] = [1 / 20, 1 / 160];
/** Those of the ratio, and of how it is measured. */
const [RATIO, RATIO_VELOCITY, RATIO_MEASURED] = [1e-2, 1e-5, 1e-1];
/** Which axis is the ratio, and which the height. */
const [AT_RATIO, AT_HEIGHT] = [2, 3] as const;

const square = (value: number): number => value * value;

/** Returns the state of a box that was seen for the first time. */
export function startMotion(box: Box): Motion {
  const measured = measure(box);
  const height = measured[AT_HEIGHT];
  return eachAxis((at): Axis => {
    const [value, velocity] =
      at === AT_RATIO ? [RATIO, RATIO_VELOCITY] : [2 * POSITION * height, 10 * VELOCITY * height];
    return [measured[at], 0, square(value), 0, square(velocity)];
  });
}

/** Returns the state at the next frame. @param isLost whether the box was not seen: its height stays then */
export function predict(motion: Motion, isLost: boolean): Motion {
  const height = motion[AT_HEIGHT][0];
  return eachAxis((at): Axis => {
    const [value, moved, ofValue, ofBoth, ofVelocity] = motion[at];
    const velocity = isLost && at === AT_HEIGHT ? 0 : moved;
    const noise = at === AT_RATIO ? [RATIO, RATIO_VELOCITY] : [POSITION * height, VELOCITY * height];
    return [
      value + velocity,
      velocity,
      ofValue + 2 * ofBoth + ofVelocity + square(noise[0]!),
      ofBoth + ofVelocity,
      ofVelocity + square(noise[1]!),
    ];
  });
}

/** Returns the state after the box was seen. */
export function correct(motion: Motion, box: Box): Motion {
  const measured = measure(box);
  const height = motion[AT_HEIGHT][0];
  return eachAxis((at): Axis => {
    const [value, velocity, ofValue, ofBoth, ofVelocity] = motion[at];
    const total = ofValue + square(at === AT_RATIO ? RATIO_MEASURED : POSITION * height);
    const [gain, gainOfVelocity] = [ofValue / total, ofBoth / total];
    const surprise = measured[at] - value;
    return [
      value + gain * surprise,
      velocity + gainOfVelocity * surprise,
      ofValue - gain * ofValue,
      ofBoth - gain * ofBoth,
      ofVelocity - gainOfVelocity * ofBoth,
    ];
  });
}

/** Returns the box of a state. */
export function boxOf(motion: Motion): Box {
  const [[x], [y], [ratio], [height]] = motion;
  const width = ratio * height;
  return { xmin: x - width / 2, ymin: y - height / 2, xmax: x + width / 2, ymax: y + height / 2 };
}

function measure({ xmin, ymin, xmax, ymax }: Box): readonly [number, number, number, number] {
  const [width, height] = [xmax - xmin, ymax - ymin];
  return [xmin + width / 2, ymin + height / 2, width / height, height];
}

function eachAxis(make: (at: 0 | 1 | 2 | 3) => Axis): Motion {
  return [make(0), make(1), make(2), make(3)];
}

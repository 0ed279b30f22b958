/** Points in space, for measures of landmarks. */
import { TabServeError } from '../../contract/errors.js';
import type { Landmark } from '../../worker/tasks/people/found.js';

export type Vector = readonly [x: number, y: number, z: number];

/**
 * Checks what a function of landmarks is given.
 * @param name of the function @param whose as in "a hand"
 * @throws `invalid-input` if there are not `count` landmarks, or if a coordinate is not finite
 */
export function checkLandmarks(landmarks: readonly Landmark[], count: number, name: string, whose: string): void {
  if (landmarks.length !== count)
    throw new TabServeError(
      'invalid-input',
      `${name} needs the ${count} landmarks of ${whose}, not ${landmarks.length}.`,
    );
  const wrong = landmarks.findIndex(({ x, y, z = 0 }) => ![x, y, z].every(Number.isFinite));
  if (wrong === -1) return;
  const { x, y, z } = landmarks[wrong]!;
  throw new TabServeError(
    'invalid-input',
    `${name} needs landmarks whose x, y and z are finite numbers, but landmark ${wrong} is at ${[x, y, z ?? 0].join(', ')}.`,
  );
}

/** Returns the vector from one point to another. A point without depth has the depth 0. */
export function between(from: Landmark, to: Landmark): Vector {
  return [to.x - from.x, to.y - from.y, (to.z ?? 0) - (from.z ?? 0)];
}

/** Returns the distance of two points. */
export function distance(from: Landmark, to: Landmark): number {
  return Math.hypot(...between(from, to));
}

/** Returns the point in the middle of some. */
export function middle(points: readonly Landmark[]): Landmark {
  const mean = (read: (point: Landmark) => number): number =>
    points.reduce((sum, point) => sum + read(point), 0) / points.length;
  return { x: mean(({ x }) => x), y: mean(({ y }) => y), z: mean(({ z = 0 }) => z) };
}

export function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

export function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

/** Returns the vector of length 1 in the same direction. */
export function unit(vector: Vector): Vector {
  const length = Math.hypot(...vector);
  return [vector[0] / length, vector[1] / length, vector[2] / length];
}

/** Converts radians to degrees. */
export function degrees(angle: number): number {
  return (angle * 180) / Math.PI;
}

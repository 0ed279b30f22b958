import type { Landmark } from '../../worker/outputs/people/found.js';

/** Two points that a drawing connects, by their places in `landmarks`. */
export type Connection = readonly [from: number, to: number];

/** What is drawn between the points of `hand_landmarker`: the palm and the fingers. */
export const HAND_CONNECTIONS: readonly Connection[] = [
  ...chain(0, 1, 2, 3, 4),
  ...chain(0, 5, 6, 7, 8),
  ...chain(9, 10, 11, 12),
  ...chain(13, 14, 15, 16),
  ...chain(0, 17, 18, 19, 20),
  ...chain(5, 9, 13, 17),
];

/** What is drawn between the points of `pose_landmarker`: face, arms, trunk and legs. */
export const POSE_CONNECTIONS: readonly Connection[] = [
  ...chain(0, 1, 2, 3, 7),
  ...chain(0, 4, 5, 6, 8),
  ...chain(9, 10),
  ...chain(11, 12),
  ...chain(11, 13, 15, 17, 19),
  ...chain(15, 19),
  ...chain(15, 21),
  ...chain(12, 14, 16, 18, 20),
  ...chain(16, 20),
  ...chain(16, 22),
  ...chain(11, 23, 25, 27, 29, 31),
  ...chain(27, 31),
  ...chain(12, 24, 26, 28, 30, 32),
  ...chain(28, 32),
  ...chain(23, 24),
];

/** Returns the connections from each point to the next. */
function chain(...points: readonly number[]): readonly Connection[] {
  return points.slice(1).map((to, at) => [points[at]!, to]);
}

/** Points that are less likely to be visible are not drawn. */
const LEAST_SCORE = 0.5;

/** What drawing needs of a canvas. */
type Canvas = Pick<
  CanvasRenderingContext2D,
  'lineWidth' | 'beginPath' | 'moveTo' | 'lineTo' | 'stroke' | 'arc' | 'fill'
>;

/**
 * Draws landmarks on a canvas that shows the photo at its own size: lines in the canvas's `strokeStyle` and
 * `lineWidth`, and points in its `fillStyle`, as wide as two lines. Points with a `score` below 0.5 are left out.
 * @param found the answer of a landmarker
 * @param connections which points to connect: `HAND_CONNECTIONS`, `POSE_CONNECTIONS`, or none
 */
export function paintLandmarks(
  canvas: Canvas,
  found: readonly { readonly landmarks: readonly Landmark[] }[],
  connections: readonly Connection[] = [],
): void {
  for (const { landmarks } of found) {
    const at = (index: number): Landmark | undefined => {
      const point = landmarks[index];
      return point && (point.score ?? 1) >= LEAST_SCORE ? point : undefined;
    };
    for (const [from, to] of connections) {
      const [start, end] = [at(from), at(to)];
      if (!start || !end) continue;
      canvas.beginPath();
      canvas.moveTo(start.x, start.y);
      canvas.lineTo(end.x, end.y);
      canvas.stroke();
    }
    for (const index of landmarks.keys()) {
      const point = at(index);
      if (!point) continue;
      canvas.beginPath();
      canvas.arc(point.x, point.y, canvas.lineWidth, 0, 2 * Math.PI);
      canvas.fill();
    }
  }
}

import type { Landmark } from '../../worker/tasks/people/found.js';
import type { Connection } from './connections.js';

/** Points that are less likely to be visible are not drawn. */
const MIN_SCORE = 0.5;

/** What drawing needs of a canvas. */
type Canvas = Pick<
  CanvasRenderingContext2D,
  'lineWidth' | 'beginPath' | 'moveTo' | 'lineTo' | 'stroke' | 'arc' | 'fill'
>;

/**
 * Draws landmarks on a canvas that shows the photo at its own size: lines in the canvas's `strokeStyle` and
 * `lineWidth`, and points in its `fillStyle`, as wide as two lines. Points with a `score` below 0.5 are left out.
 * @param found the answer of a landmarker
 * @param connections which points to connect: `FACE_CONNECTIONS`, `HAND_CONNECTIONS`, `POSE_CONNECTIONS`, `COCO_CONNECTIONS`, or none
 */
export function paintLandmarks(
  canvas: Canvas,
  found: readonly { readonly landmarks: readonly Landmark[] }[],
  connections: readonly Connection[] = [],
): void {
  for (const { landmarks } of found) {
    const at = (index: number): Landmark | undefined => {
      const point = landmarks[index];
      return point && (point.score ?? 1) >= MIN_SCORE ? point : undefined;
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

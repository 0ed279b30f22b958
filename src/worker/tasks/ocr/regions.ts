import type { Point } from './raster.js';

/** A map of a text detector: one number for each pixel. */
export interface TextMap {
  readonly width: number;
  readonly height: number;
  readonly data: ArrayLike<number>;
}

/**
 * Returns the outlines that `cv2.findContours` finds in the pixels above a threshold (RETR_LIST): of each region of
 * pixels that touch at sides or corners, and of each hole in one. Of an outline only the points are returned that its
 * convex hull needs.
 */
export function findOutlines({ width, height, data }: TextMap, threshold: number): Point[][] {
  const isText = new Uint8Array(width * height);
  for (let index = 0; index < isText.length; index++) isText[index] = data[index]! > threshold ? 1 : 0;
  const seen = new Uint8Array(width * height);
  const outlines: Point[][] = [];
  for (let start = 0; start < isText.length; start++) {
    if (seen[start]) continue;
    const outline = isText[start] ? outlineOfRegion(start) : outlineOfHole(start);
    if (outline) outlines.push(outline);
  }
  return outlines;

  function outlineOfRegion(start: number): Point[] {
    const ends = new Map<number, [left: number, right: number]>();
    visit(start, 1, true, (x, y) => {
      const row = ends.get(y);
      if (!row) ends.set(y, [x, x]);
      else if (x < row[0]) row[0] = x;
      else if (x > row[1]) row[1] = x;
    });
    return [...ends].flatMap(([y, [left, right]]): Point[] => [
      [left, y],
      [right, y],
    ]);
  }

  /**
   * Returns the outline of a hole, which consists of the pixels around it; undefined for a region that reaches the
   * border of the map, which is no hole.
   */
  function outlineOfHole(start: number): Point[] | undefined {
    const points: Point[] = [];
    let isHole = true;
    visit(start, 0, false, (x, y) => {
      if (x === 0 || y === 0 || x === width - 1 || y === height - 1) isHole = false;
      if (!isHole) return;
      for (const [u, v] of [
        [x - 1, y],
        [x + 1, y],
        [x, y - 1],
        [x, y + 1],
      ] as const)
        if (isText[v * width + u]) points.push([u, v]);
    });
    return isHole ? points : undefined;
  }

  /** Visits the pixels of one kind that are connected with a pixel. */
  function visit(start: number, kind: 0 | 1, withCorners: boolean, see: (x: number, y: number) => void): void {
    const stack = [start];
    seen[start] = 1;
    while (stack.length > 0) {
      const index = stack.pop()!;
      const [x, y] = [index % width, Math.floor(index / width)];
      see(x, y);
      for (let v = Math.max(y - 1, 0); v <= Math.min(y + 1, height - 1); v++)
        for (let u = Math.max(x - 1, 0); u <= Math.min(x + 1, width - 1); u++) {
          const other = v * width + u;
          if (seen[other] || isText[other] !== kind || (!withCorners && u !== x && v !== y)) continue;
          seen[other] = 1;
          stack.push(other);
        }
    }
  }
}

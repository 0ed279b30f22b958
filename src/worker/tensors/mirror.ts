/**
 * Returns the pixel of each of `length` positions from `first` on, of an axis that goes on beyond its ends as in a
 * mirror: numpy's `symmetric` if the pixel at the edge is seen twice, otherwise its `reflect`.
 */
export function mirroredIndices(size: number, first: number, length: number, isEdgeTwice: boolean): Int32Array {
  const last = size - 1;
  const period = isEdgeTwice ? 2 * size : Math.max(1, 2 * last);
  return Int32Array.from({ length }, (_, at) => {
    const position = (((first + at) % period) + period) % period;
    return position <= last ? position : (isEdgeTwice ? 2 * last + 1 : 2 * last) - position;
  });
}

/**
 * Agglomerative clustering with centroid linkage, as `scipy.cluster.hierarchy.linkage` computes it. Of distances that are
 * equal, it takes the one of the first vectors, and scipy another one: vectors that are equal make the same clusters.
 */

/** Two clusters that become one. The vectors have the numbers from 0 on; the clusters of the merges follow them. */
export interface Merge {
  readonly left: number;
  readonly right: number;
  /** Between the centroids. */
  readonly distance: number;
  /** How many vectors the new cluster has. */
  readonly size: number;
}

/** Vectors, or merges, between two chances for other work: they take some milliseconds of thousands of vectors. */
const AT_ONCE = 8;

/** Numbers of two centroids between two looks at whether they are farther apart than another pair. */
const BLOCK = 32;

/**
 * Merges the two clusters whose centroids are nearest, until one is left. As scipy's, it is Müllner's generic algorithm
 * (https://arxiv.org/abs/1109.2378): of most places it knows only that nothing is nearer than before, and looks for the
 * nearest one when that may be the smallest distance of all. Distances are computed anew from the centroids: those of all
 * pairs would take 230 MB for an hour in which three people speak in each window.
 * @param vectors of one length, at least one
 * @param onStep is called again and again, while it takes seconds
 * @returns the merges in their order, one fewer than there are vectors
 */
export async function centroidLinkage(
  vectors: readonly ArrayLike<number>[],
  onStep: () => Promise<void>,
): Promise<readonly Merge[]> {
  const count = vectors.length;
  const length = vectors[0]!.length;
  const centroids = new Float64Array(count * length);
  for (const [place, vector] of vectors.entries()) centroids.set(vector, place * length);
  /** The square of the distance between two places; not all of it where it is more than `most`. */
  const squareBetween = (a: number, b: number, most: number): number => {
    let sum = 0;
    for (let at = 0; at < length && sum <= most;)
      for (const end = Math.min(length, at + BLOCK); at < end; at++)
        sum += (centroids[a * length + at]! - centroids[b * length + at]!) ** 2;
    return sum;
  };
  const nodes = Array.from({ length: count }, (_, place) => place);
  const sizes = new Int32Array(count).fill(1);
  // Of each place the nearest one after it, or −1 if it is to be found; and the square that no other one is below.
  const nearest = new Int32Array(count).fill(-1);
  const bounds = new Float64Array(count).fill(Infinity);
  const findNearest = (place: number): void => {
    let [found, least] = [-1, Infinity];
    for (let other = place + 1; other < count; other++) {
      if (sizes[other] === 0) continue;
      const square = squareBetween(place, other, least);
      if (found < 0 || square < least) [found, least] = [other, square];
    }
    nearest[place] = found;
    bounds[place] = least;
  };
  for (let place = 0; place < count; place++) {
    findNearest(place);
    if (place % AT_ONCE === 0) await onStep();
  }
  const merges: Merge[] = [];
  const smallest = (): number => {
    let best = -1;
    for (let place = 0; place < count; place++)
      if (sizes[place]! > 0 && bounds[place] !== Infinity && (best < 0 || bounds[place]! < bounds[best]!)) best = place;
    return best;
  };
  for (let step = 0; step < count - 1; step++) {
    let a = smallest();
    for (; nearest[a]! < 0; a = smallest()) findNearest(a);
    const b = nearest[a]!;
    const [first, second] = [sizes[a]!, sizes[b]!];
    const size = first + second;
    merges.push({ left: nodes[a]!, right: nodes[b]!, distance: Math.sqrt(bounds[a]!), size });
    // The new cluster has the place of the second one.
    sizes[a] = 0;
    sizes[b] = size;
    nodes[b] = count + step;
    for (let at = 0; at < length; at++)
      centroids[b * length + at] = (first * centroids[a * length + at]! + second * centroids[b * length + at]!) / size;
    for (let place = 0; place < count; place++) {
      if (sizes[place] === 0 || place === b) continue;
      if (nearest[place] === a || nearest[place] === b) nearest[place] = -1;
      if (place > b) continue;
      const square = squareBetween(place, b, bounds[place]!);
      if (square < bounds[place]!) [nearest[place], bounds[place]] = [b, square];
    }
    findNearest(b);
    if (step % AT_ONCE === 0) await onStep();
  }
  return merges;
}

/**
 * Returns the cluster of each vector, from 0 on, if only some merges are made.
 * @param isMade gets a merge's place and its distance; what is above a merge that is not made is not made either
 */
export function clustersOf(
  merges: readonly Merge[],
  isMade: (place: number, distance: number) => boolean,
): readonly number[] {
  const count = merges.length + 1;
  // The vectors of each cluster that is made; a merge that is not made has none, and nothing above it is made.
  const members: (readonly number[] | undefined)[] = Array.from({ length: count }, (_, vector) => [vector]);
  const roots = new Set(members.keys());
  for (const [place, { left, right, distance }] of merges.entries()) {
    const [one, other] = [members[left], members[right]];
    const isWhole = one !== undefined && other !== undefined && isMade(place, distance);
    members.push(isWhole ? [...one, ...other] : undefined);
    if (!isWhole) continue;
    roots.delete(left);
    roots.delete(right);
    roots.add(count + place);
  }
  const clusters: number[] = [];
  for (const [cluster, root] of [...roots].entries()) for (const vector of members[root]!) clusters[vector] = cluster;
  return clusters;
}

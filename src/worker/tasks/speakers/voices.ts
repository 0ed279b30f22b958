/** Which vectors are of one speaker: the rules of pyannote's `AgglomerativeClustering`. */
import { halfEven } from './half-even.js';
import { centroidLinkage, clustersOf } from './linkage.js';

/** What is known of the speakers. */
export interface VoiceRules {
  /** The largest distance between the centroids of two clusters that become one; the vectors have the length 1. */
  readonly threshold: number;
  /** The fewest and the most speakers. */
  readonly least: number;
  readonly most: number;
}

/** A cluster of fewer vectors, or than a tenth of all, is no speaker: its vectors go to the most similar one. */
const MIN_SIZE = 12;
const MIN_SHARE = 0.1;

/**
 * Returns the speaker of each vector, from 0 on.
 * @param vectors at least one, of any length but 0
 * @param onStep is called again and again: thousands of vectors take seconds
 */
export async function speakersOf(
  vectors: readonly Float32Array[],
  rules: VoiceRules,
  onStep: () => Promise<void>,
): Promise<readonly number[]> {
  const most = clamp(rules.most, vectors.length);
  if (most < 2) return vectors.map(() => 0);
  const clusters = await clustersBy(vectors.map(unit), { ...rules, most, least: clamp(rules.least, most) }, onStep);
  const centroids = meansOf(vectors, clusters);
  // Also those of which the centroids were made: pyannote has found that better.
  return vectors.map((vector) => mostSimilar(vector, centroids));
}

/** @param vectors of length 1 */
async function clustersBy(
  vectors: readonly Float64Array[],
  { threshold, least, most }: VoiceRules,
  onStep: () => Promise<void>,
): Promise<readonly number[]> {
  const merges = await centroidLinkage(vectors, onStep);
  const smallest = Math.min(MIN_SIZE, Math.max(1, halfEven(MIN_SHARE * vectors.length)));
  let clusters = clustersOf(merges, (_, distance) => distance <= threshold);
  const found = largeOf(clusters, smallest).length;
  const wanted = found < least ? least : found > most ? most : found;
  if (found !== wanted) {
    // The merges that make this many large clusters, beginning with those whose distance is near the threshold.
    const order = [...merges.keys()].sort(
      (a, b) => Math.abs(merges[a]!.distance - threshold) - Math.abs(merges[b]!.distance - threshold),
    );
    let [best, bestCount] = [merges.length, 1];
    for (const last of order) {
      if (merges[last]!.size < smallest) continue;
      await onStep();
      const own = largeOf(
        clustersOf(merges, (place) => place <= last),
        smallest,
      ).length;
      if (Math.abs(own - wanted) < Math.abs(bestCount - wanted) || own === wanted) [best, bestCount] = [last, own];
      if (own === wanted) break;
    }
    clusters = clustersOf(merges, (place) => place <= best);
  }
  return withoutSmall(vectors, clusters, largeOf(clusters, smallest));
}

/** Returns clusters, numbered from 0 on, in which the vectors of small ones belong to the most similar large one. */
function withoutSmall(
  vectors: readonly Float64Array[],
  clusters: readonly number[],
  large: readonly number[],
): readonly number[] {
  if (large.length === 0) return clusters.map(() => 0);
  const means = meansOf(vectors, clusters);
  const centroids = large.map((cluster) => means[cluster]!);
  const homes = means.map((mean, cluster) =>
    large.includes(cluster) ? large.indexOf(cluster) : mostSimilar(mean, centroids),
  );
  return clusters.map((cluster) => homes[cluster]!);
}

/** Returns the clusters that have this many vectors. */
function largeOf(clusters: readonly number[], smallest: number): readonly number[] {
  const sizes: number[] = [];
  for (const cluster of clusters) sizes[cluster] = (sizes[cluster] ?? 0) + 1;
  return [...sizes.keys()].filter((cluster) => sizes[cluster]! >= smallest);
}

/** Returns the mean of each cluster's vectors. */
function meansOf(vectors: readonly ArrayLike<number>[], clusters: readonly number[]): readonly Float64Array[] {
  const sums: Float64Array[] = [];
  const sizes: number[] = [];
  for (const [index, vector] of vectors.entries()) {
    const cluster = clusters[index]!;
    const sum = (sums[cluster] ??= new Float64Array(vector.length));
    sizes[cluster] = (sizes[cluster] ?? 0) + 1;
    for (let at = 0; at < vector.length; at++) sum[at]! += vector[at]!;
  }
  return sums.map((sum, cluster) => sum.map((value) => value / sizes[cluster]!));
}

/** Returns the place of the vector whose direction is nearest. */
function mostSimilar(vector: ArrayLike<number>, others: readonly Float64Array[]): number {
  let best = 0;
  let most = -Infinity;
  for (const [place, other] of others.entries()) {
    let [product, squares] = [0, 0];
    for (let at = 0; at < other.length; at++) {
      product += vector[at]! * other[at]!;
      squares += other[at]! ** 2;
    }
    const similarity = product / Math.sqrt(squares);
    if (similarity > most) [best, most] = [place, similarity];
  }
  return best;
}

function unit(vector: Float32Array): Float64Array {
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return Float64Array.from(vector, (value) => value / norm);
}

function clamp(value: number, most: number): number {
  return Math.max(1, Math.min(value, most));
}

/** A class and its score. */
export interface Ranked {
  readonly index: number;
  readonly score: number;
}

/**
 * Returns the `k` highest scores, highest first; if scores are equal, the lower index comes first. Returns all scores
 * if there are fewer.
 */
export function topK(scores: ArrayLike<number>, k: number): Ranked[] {
  return Array.from(scores, (score, index) => ({ index, score }))
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, k);
}

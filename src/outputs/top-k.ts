/** A class and its score. */
export interface Ranked {
  readonly index: number;
  readonly score: number;
}

/** The `k` highest scores, highest first, the lower index first among equals; all of them where there are fewer. */
export function topK(scores: ArrayLike<number>, k: number): Ranked[] {
  return Array.from(scores, (score, index) => ({ index, score }))
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, k);
}

import { TabServeError } from '../../contract/errors.js';

/** A vector that was found by its similarity. */
export interface Neighbor {
  /** The index in the list that was searched. */
  readonly index: number;
  /** The cosine similarity, in -1..1. */
  readonly score: number;
}

/**
 * Returns the cosine of the angle between two vectors, in -1..1: `a · b / (|a| |b|)`. The similarity of a vector of
 * zeros is 0.
 * @throws `invalid-input` if the vectors differ in length
 */
export function cosineSimilarity(a: ArrayLike<number>, b: ArrayLike<number>): number {
  checkLengths(a, b, 'The vectors');
  let [product, squaresA, squaresB] = [0, 0, 0];
  for (let index = 0; index < a.length; index++) {
    const [x, y] = [a[index]!, b[index]!];
    product += x * y;
    squaresA += x * x;
    squaresB += y * y;
  }
  const cosine = product / Math.sqrt(squaresA * squaresB);
  return Number.isNaN(cosine) ? 0 : Math.max(-1, Math.min(1, cosine));
}

/**
 * Returns the `count` vectors that are most like `query`, best first. Of two equal scores, the earlier one comes first.
 * It compares with every vector; for millions of them use an index.
 * @param count how many; 1 by default
 * @throws `invalid-input` if a vector differs in length from `query`
 */
export function nearest(query: ArrayLike<number>, vectors: readonly ArrayLike<number>[], count = 1): Neighbor[] {
  vectors.forEach((vector, index) => checkLengths(query, vector, `The query and vector ${index}`));
  return vectors
    .map((vector, index) => ({ index, score: cosineSimilarity(query, vector) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, count);
}

/** @throws `invalid-input` if `b` is an error of a row that failed, or differs in length from `a` */
function checkLengths(a: ArrayLike<number>, b: ArrayLike<number> | Error, what: string): void {
  if (b instanceof Error)
    throw new TabServeError('invalid-input', `${what}: a row failed and has no vector: ${b.message}`, { cause: b });
  if (a.length !== b.length)
    throw new TabServeError(
      'invalid-input',
      `${what} must have the same length, got ${a.length} and ${b.length}. Compare vectors of one model.`,
    );
}

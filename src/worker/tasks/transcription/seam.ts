/**
 * Finds where two texts that overlap are joined: `_find_longest_common_sequence` of transformers. The second one is
 * moved over the first, to where the largest share of the overlapping tokens is equal; of two such offsets, to the one
 * with the longer overlap. They are joined in the middle of the overlap.
 */
export function seam<Token>(
  left: readonly Token[],
  right: readonly Token[],
  isSame: (left: Token, right: Token) => boolean = Object.is,
): {
  /** How many tokens of the first text count. */
  readonly leftEnd: number;
  /** The first token of the second one that counts. */
  readonly rightStart: number;
} {
  let best = 0;
  let found = { leftEnd: left.length, rightStart: 0 };
  for (let overlap = 1; overlap < left.length + right.length; overlap++) {
    const leftStart = Math.max(0, left.length - overlap);
    const leftEnd = Math.min(left.length, left.length + right.length - overlap);
    const rightStart = Math.max(0, overlap - left.length);
    const rightEnd = Math.min(right.length, overlap);
    let equal = 0;
    for (let at = 0; at < leftEnd - leftStart; at++)
      if (isSame(left[leftStart + at]!, right[rightStart + at]!)) equal += 1;
    const share = equal / overlap + overlap / 10_000;
    if (equal <= 1 || share <= best) continue;
    best = share;
    found = { leftEnd: (leftStart + leftEnd) >> 1, rightStart: (rightStart + rightEnd) >> 1 };
  }
  return found;
}

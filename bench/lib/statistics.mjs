/** @param {readonly number[]} values */
export function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = part * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

/** @param {readonly number[]} values */
export function median(values) {
  return quantile(values, 0.5);
}

/**
 * The median over the rounds of what `compare` says of one round: what slows the machine down slows both.
 * @param {readonly number[]} ours
 * @param {readonly number[]} theirs
 * @param {(ours: number, theirs: number) => number} compare
 */
export function paired(ours, theirs, compare) {
  return median(ours.map((value, round) => compare(value, theirs[round])));
}

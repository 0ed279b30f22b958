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
 * The quartiles of what the rounds have said, and how many rounds there were: `{ ...row, spread: spread(values) }`
 * shows them beside the row's value.
 * @param {readonly number[]} values
 */
export function spread(values) {
  const [low, high] = [0.25, 0.75].map((part) => Number(quantile(values, part).toPrecision(4)));
  return { low, high, rounds: values.length };
}

/**
 * What `compare` says of each round: what slows the machine down slows both.
 * @param {readonly number[]} ours
 * @param {readonly number[]} theirs
 * @param {(ours: number, theirs: number) => number} compare
 */
export function pairs(ours, theirs, compare) {
  return ours.map((value, round) => compare(value, theirs[round]));
}

/** The median of `pairs`. */
export function paired(ours, theirs, compare) {
  return median(pairs(ours, theirs, compare));
}

/** Returns how many words must be inserted, removed or replaced to make one list of the other: Levenshtein's distance. */
export function editDistance(reference, words) {
  let row = Array.from({ length: words.length + 1 }, (_, count) => count);
  for (const [index, word] of reference.entries()) {
    const next = [index + 1];
    for (const [column, other] of words.entries())
      next.push(Math.min(row[column] + (word === other ? 0 : 1), row[column + 1] + 1, next[column] + 1));
    row = next;
  }
  return row.at(-1);
}

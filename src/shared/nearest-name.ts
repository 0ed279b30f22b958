/**
 * Returns the known name that was probably meant: it differs in upper and lower case, or in at most a third of its
 * letters.
 */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let fewest = Infinity;
  for (const known of names) {
    const most = Math.max(name.length, known.length) / 3;
    // Skip a name whose length alone differs too much.
    if (Math.abs(name.length - known.length) > Math.min(most, fewest - 1)) continue;
    const count = distance(name.toLowerCase(), known.toLowerCase());
    if (count <= most && count < fewest) [best, fewest] = [known, count];
  }
  return best;
}

/**
 * Returns how many insertions, deletions, replacements and swaps of neighboring letters turn `a` into `b` (optimal
 * string alignment).
 */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= a.length; i++) {
    const [above, before, row] = [rows[i - 1]!, rows[i - 2], [i]];
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + Number(a[i - 1] !== b[j - 1]));
      if (before && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

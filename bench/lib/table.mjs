/**
 * Prints rows as a table: what has a goal, last, because it is what one looks for.
 * @param {readonly import('./rows.mjs').Row[]} rows
 */
export function printTable(rows) {
  const head = ['', 'median', 'quartiles', 'unit', 'goal', ''];
  const cells = rows
    .toSorted((a, b) => Number(a.goal !== null) - Number(b.goal !== null))
    .map(({ name, value, spread, unit, goal, holds }) => [
      name,
      String(value),
      spread ? `${spread.low} to ${spread.high}` : '',
      unit,
      goal ?? '',
      holds === null ? '' : holds ? 'holds' : 'MISSED',
    ]);
  const widths = head.map((_, column) => Math.max(...[head, ...cells].map((row) => row[column].length)));
  for (const line of [head, ...cells]) {
    const padded = line.map((cell, column) =>
      column === 1 || column === 2 ? cell.padStart(widths[column]) : cell.padEnd(widths[column]),
    );
    console.log(padded.join('  ').trimEnd());
  }
}

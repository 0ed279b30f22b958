/** The cheapest pairs of two lists. */

/**
 * Returns the pairs of rows and columns with the least sum of costs, each row and column in at most one pair: the
 * Hungarian method with shortest augmenting paths (Jonker and Volgenant, 1987).
 * @param costs finite, `rows × columns`, row by row
 * @returns for each row its column, or −1
 */
export function assign(costs: Float64Array, rows: number, columns: number): Int32Array {
  if (rows > columns) {
    const turned = new Float64Array(costs.length);
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++) turned[column * rows + row] = costs[row * columns + column]!;
    const rowOf = assign(turned, columns, rows);
    const columnOf = new Int32Array(rows).fill(-1);
    rowOf.forEach((row, column) => (columnOf[row] = column));
    return columnOf;
  }
  const [ofRow, ofColumn] = [new Float64Array(rows), new Float64Array(columns)];
  const owner = new Int32Array(columns).fill(-1);
  const columnOf = new Int32Array(rows).fill(-1);
  const before = new Int32Array(columns);
  for (let start = 0; start < rows; start++) {
    const shortest = new Float64Array(columns).fill(Infinity);
    const isDone = new Uint8Array(columns);
    const path: number[] = [];
    let [row, length, end] = [start, 0, -1];
    while (end < 0) {
      let [least, next] = [Infinity, -1];
      for (let column = 0; column < columns; column++) {
        if (isDone[column]) continue;
        const cost = length + costs[row * columns + column]! - ofRow[row]! - ofColumn[column]!;
        if (cost < shortest[column]!) [shortest[column], before[column]] = [cost, row];
        const isFree = owner[column] === -1;
        if (shortest[column]! < least || (shortest[column] === least && isFree))
          [least, next] = [shortest[column]!, column];
      }
      length = least;
      isDone[next] = 1;
      path.push(next);
      if (owner[next] === -1) end = next;
      else row = owner[next]!;
    }
    ofRow[start]! += length;
    for (const column of path) {
      if (owner[column] !== -1) ofRow[owner[column]!]! += length - shortest[column]!;
      ofColumn[column]! -= length - shortest[column]!;
    }
    for (let column = end; ;) {
      const own = before[column]!;
      owner[column] = own;
      [columnOf[own], column] = [column, columnOf[own]!];
      if (own === start) break;
    }
  }
  return columnOf;
}

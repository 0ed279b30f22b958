import type { MaybePromise } from '../../contract/handler.js';
import { eachRow, type Grid } from './interpolate.js';
import type { Maps } from './maps.js';

/** The numbers that are sampled between two pauses: a handler takes some 20 ns for each. */
const BAND = 1 << 24;

/** Does what `eachRow` does, and calls `pause` every few tenths of a second. What that throws ends it. */
export async function eachRowWithPauses(
  maps: Maps,
  grid: Grid,
  visit: (values: Float64Array, y: number) => void,
  pause: () => MaybePromise<void>,
): Promise<void> {
  const { first, end } = grid.rows;
  const rows = Math.ceil(BAND / (maps.channels * grid.columns.size));
  for (let y = first; y < end; y += rows) {
    await pause();
    eachRow(maps, { ...grid, rows: { ...grid.rows, first: y, end: Math.min(y + rows, end) } }, visit);
  }
}

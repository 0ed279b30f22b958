import type { TensorView } from './decoder.js';

/** Returns the first columns of a table, whose axis `axis` has the columns. */
export function viewColumns({ dims, data }: TensorView, axis: number, count: number): TensorView {
  const [rows = 0, width = 0] = dims;
  if (axis === 0) return { dims: [count, width], data: data.subarray(0, count * width) };
  const first = new Float32Array(rows * count);
  for (let row = 0; row < rows; row++) first.set(data.subarray(row * width, row * width + count), row * count);
  return { dims: [rows, count], data: first };
}

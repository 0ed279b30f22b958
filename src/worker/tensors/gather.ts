import type { Tensor } from '../../contract/tensors.js';
import { assemble, sizeOf, type Assembly, type Run } from './assemble.js';

/** Indices of an axis: `length` of them, from `start` on. */
export interface Range {
  readonly start: number;
  readonly length: number;
}

/** A tensor, and the axis of which ranges are taken. */
export interface Part {
  readonly tensor: Tensor;
  readonly axis: number;
}

/**
 * Returns tensors of these ranges of an axis, in this order, which the caller frees. Copies of tensors on a GPU are on
 * it, too.
 * @throws `device-lost`, `out-of-memory`, `inference-failed`
 */
export async function gather(parts: readonly Part[], ranges: readonly Range[]): Promise<readonly Tensor[]> {
  return await assemble(parts.map((part) => assemblyOf(part, ranges)));
}

function assemblyOf({ tensor, axis }: Part, ranges: readonly Range[]): Assembly {
  const { dims } = tensor;
  const inner = sizeOf(dims.slice(axis + 1));
  const taken = ranges.reduce((sum, { length }) => sum + length, 0);
  const runs: Run[] = [];
  let to = 0;
  for (let at = 0; at < sizeOf(dims.slice(0, axis)); at++)
    for (const { start, length } of ranges) {
      runs.push({ from: (at * dims[axis]! + start) * inner, to, length: length * inner });
      to += length * inner;
    }
  return { dims: dims.map((size, at) => (at === axis ? taken : size)), pieces: [{ tensor, runs }] };
}

import { GOLDEN_TOLERANCES } from '../backends/proof.js';
import type { Tensor, Tensors } from '../contract/tensors.js';
import { fromFloat16 } from '../tensors/float16.js';

/**
 * Returns whether a golden example with these outputs proves little: a backend that answers with the same number everywhere, or with zeros, would
 * reproduce it.
 */
export function isWeak(outputs: Tensors): boolean {
  const all = Object.values(outputs).filter(({ data }) => data.length > 0);
  return all.length > 0 && all.every(isFlat);
}

function isFlat({ dtype, data }: Tensor): boolean {
  if (dtype === 'string') return false;
  let [least, most] = [Infinity, -Infinity];
  const values = dtype === 'float16' ? fromFloat16(data as Uint16Array) : (data as Iterable<number | bigint>);
  for (const one of values) {
    const value = Number(one);
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  const { absolute = 0, relative = 0 } = GOLDEN_TOLERANCES[dtype] ?? {};
  const largest = Math.max(Math.abs(least), Math.abs(most));
  const tolerance = absolute + relative * largest;
  // A single number is flat only if zero would do.
  return data.length === 1 ? largest <= tolerance : (most - least) / 2 <= tolerance;
}

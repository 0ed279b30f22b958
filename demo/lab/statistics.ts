import type { Tensors } from '../../src/index.js';
import { compareOutputs } from '../../src/backends/proof.js';
import { fromFloat16 } from '../../src/tensors/float16.js';

/** Returns a quantile: 0.5 is the median, the lower one of an even number of values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export interface Deviation {
  /** Largest absolute difference. */
  readonly error: number;
  /** The same, relative to the largest value of the reference. */
  readonly relative: number;
  /** Describes what is beyond the SDK's tolerance. */
  readonly wrong: string | undefined;
}

/** How far outputs are from those of the reference. */
export function deviation(outputs: Tensors, reference: Tensors): Deviation {
  const { error, wrong } = compareOutputs(outputs, reference);
  let largest = 0;
  for (const { dtype, data } of Object.values(reference)) {
    if (dtype === 'string') continue;
    for (const value of dtype === 'float16' ? fromFloat16(data as Uint16Array) : (data as Float32Array)) {
      if (Number.isFinite(Number(value))) largest = Math.max(largest, Math.abs(Number(value)));
    }
  }
  return { error, relative: largest > 0 ? error / largest : error, wrong };
}

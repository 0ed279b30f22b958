import type { Tensors } from '../../src/index.js';
import {
  compareOutputs,
  HALF_REFERENCE_TOLERANCES,
  REFERENCE_TOLERANCES,
} from '../../src/worker/host/compare-outputs.js';
import { fromFloat16 } from '../../src/worker/tensors/float16.js';

/** Returns a quantile: 0.5 is the median, the lower one of an even number of values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export interface Deviation {
  /** Largest absolute difference. */
  readonly error: number;
  /** Largest absolute value of the reference. */
  readonly scale: number;
  /** Describes what is beyond the SDK's tolerance; empty if nothing is. */
  readonly wrong: string;
}

/** Compares outputs with those of the reference, as the SDK does. `half`: the model has weights in float16. */
export function deviation(outputs: Tensors, reference: Tensors, half: boolean): Deviation {
  const tolerances = half ? HALF_REFERENCE_TOLERANCES : REFERENCE_TOLERANCES;
  const { error, wrong = '' } = compareOutputs(outputs, reference, tolerances);
  return { error, scale: largest(reference), wrong };
}

function largest(tensors: Tensors): number {
  let most = 0;
  for (const { dtype, data } of Object.values(tensors)) {
    if (dtype === 'string') continue;
    for (const value of dtype === 'float16' ? fromFloat16(data as Uint16Array) : (data as Float32Array)) {
      if (Number.isFinite(Number(value))) most = Math.max(most, Math.abs(Number(value)));
    }
  }
  return most;
}

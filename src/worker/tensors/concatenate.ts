import type { DType, TensorDataMap } from '../../contract/tensors.js';

type Mutable = Float32Array & { set(values: ArrayLike<number>, offset: number): void };

/** Joins arrays of one class; there must be at least one. */
export function concatenate<Data extends TensorDataMap[DType]>(parts: readonly Data[]): Data {
  const [first] = parts;
  if (Array.isArray(first)) return parts.flat() as unknown as Data;
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const all = new (first!.constructor as new (length: number) => Mutable)(length);
  let at = 0;
  for (const part of parts) {
    all.set(part as Float32Array, at);
    at += part.length;
  }
  return all as unknown as Data;
}

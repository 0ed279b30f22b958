import type { Tensor } from '../../contract/tensors.js';
import { fromFloat16 } from '../../tensors/float16.js';
import { response } from './responses.js';

/**
 * Returns a response with a handler's result: a string as text, a Blob or a Uint8Array as bytes, and everything else as JSON, in which tensors are lists in lists,
 * other typed arrays are lists, a 64-bit integer is a number if a number can hold it and else a string, and NaN and infinity are null.
 */
export function resultResponse(result: unknown): Response {
  if (typeof result === 'string') return response(result, 'text/plain; charset=utf-8');
  if (result instanceof Blob) return response(result, result.type || 'application/octet-stream');
  if (result instanceof ArrayBuffer || result instanceof Uint8Array)
    return response(result as BufferSource, 'application/octet-stream');
  return response(JSON.stringify(toJson(result) ?? null), 'application/json');
}

/** Returns a result as data that JSON can hold. */
export function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  // A date becomes its text.
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (isTensor(value)) return nested(value);
  if (ArrayBuffer.isView(value)) return listOf(value as never);
  if (Array.isArray(value)) return value.map((item) => toJson(item) ?? null);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toJson(item)]));
}

function isTensor(value: object): value is Tensor {
  return 'dtype' in value && 'dims' in value && 'data' in value && Array.isArray(value.dims);
}

/** Returns a tensor as lists in lists: PyTorch's `tolist`. */
function nested(tensor: Tensor): unknown {
  const { dims } = tensor;
  let items = elements(tensor);
  if (dims.length === 0) return items[0];
  for (let axis = dims.length - 1; axis > 0; axis--) {
    const [all, size] = [items, dims[axis]!];
    const lists = dims.slice(0, axis).reduce((product, dim) => product * dim, 1);
    items = Array.from({ length: lists }, (_, at) => all.slice(at * size, (at + 1) * size));
  }
  return items;
}

function elements({ dtype, data }: Tensor): readonly unknown[] {
  if (dtype === 'bool') return Array.from(data as Uint8Array, (bit) => bit !== 0);
  return listOf(dtype === 'float16' ? fromFloat16(data as Uint16Array) : data);
}

function listOf(data: Iterable<unknown>): readonly unknown[] {
  return Array.from(data, (item) => (typeof item === 'bigint' ? toJson(item) : item));
}

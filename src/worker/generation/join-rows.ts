/** Rows of different lengths as one cache: the shorter ones are padded on the left. */
import type { Tensor } from '../../contract/tensors.js';
import { assemble, sizeOf, type Assembly, type Run } from '../tensors/assemble.js';
import type { DecoderInterface } from './decoder-interface.js';
import { KeyValueCache } from './key-value-cache.js';

/** A row of a cache. Its tokens are behind `pad` places that count for nothing. */
export interface RowOfCache {
  readonly cache: KeyValueCache;
  readonly row: number;
  readonly pad: number;
}

/** Returns how many tokens of a row are in the cache. */
export function lengthOf({ cache, pad }: RowOfCache): number {
  return cache.length - pad;
}

/** Returns whether a row can be joined with others: a mask says which tokens count, and each has a place in the cache. */
export function canJoin({ length, tensors }: KeyValueCache, model: DecoderInterface): boolean {
  const { mask, ids, hiddenStates, cache } = model;
  if (!mask || typeof ids.dims[0] === 'number' || hiddenStates || cache.length === 0 || length === 0) return false;
  return cache.every(
    ({ past: { name }, rowAxis, tokenAxis }) =>
      rowAxis === 0 && tokenAxis !== undefined && tensors[name]!.dims[tokenAxis] === length,
  );
}

/**
 * Returns one cache of rows of others, as long as the longest of them. One row alone has no padding.
 * @throws `device-lost`, `out-of-memory`, `inference-failed`
 */
export async function joinRows(rows: readonly RowOfCache[], { cache }: DecoderInterface): Promise<KeyValueCache> {
  const length = Math.max(...rows.map(lengthOf));
  const made = await assemble(cache.map(({ past: { name }, tokenAxis }) => joining(rows, name, tokenAxis!, length)));
  return new KeyValueCache(length, Object.fromEntries(cache.map(({ past }, index) => [past.name, made[index]!])));
}

function joining(rows: readonly RowOfCache[], name: string, axis: number, length: number): Assembly {
  const tensorOf = ({ cache }: RowOfCache): Tensor => cache.tensors[name]!;
  const { dims } = tensorOf(rows[0]!);
  const outer = sizeOf(dims.slice(1, axis));
  const inner = sizeOf(dims.slice(axis + 1));
  const pieces = rows.map((row, index) => {
    const tensor = tensorOf(row);
    const [own, size] = [lengthOf(row), tensor.dims[axis]!];
    const runs = Array.from({ length: outer }, (_, at): Run => ({
      from: ((row.row * outer + at) * size + row.pad) * inner,
      to: ((index * outer + at + 1) * length - own) * inner,
      length: own * inner,
    }));
    return { tensor, runs };
  });
  return { dims: dims.map((size, at) => (at === 0 ? rows.length : at === axis ? length : size)), pieces };
}

/** Rows of different lengths as one cache: the shorter ones are padded. */
import type { Tensor } from '../../contract/tensors.js';
import { assemble, sizeOf, type Assembly, type Run } from '../tensors/assemble.js';
import { hasRows, type DecoderInterface } from './decoder-interface.js';
import { KeyValueCache } from './key-value-cache.js';

/** On which side of its tokens a row has padding. */
export type PaddingSide = 'left' | 'right';

/** A row of a cache: its tokens, without the padding. */
export interface RowOfCache {
  readonly cache: KeyValueCache;
  readonly row: number;
  /** The position of its first token. */
  readonly start: number;
  /** How many tokens it has. */
  readonly length: number;
}

/** Returns whether a row can be joined with others: a mask says which tokens count, and each has a position in the cache. */
export function canJoin({ length, tensors }: KeyValueCache, model: DecoderInterface): boolean {
  const { mask, hiddenStates, cache } = model;
  if (!mask || !hasRows(model) || hiddenStates || cache.length === 0 || length === 0) return false;
  return cache.every(
    ({ past: { name }, rowAxis, tokenAxis }) =>
      rowAxis === 0 && tokenAxis !== undefined && tensors[name]!.dims[tokenAxis] === length,
  );
}

/**
 * Returns one cache of rows of others, as long as the longest of them. One row alone has no padding.
 * @throws `device-lost`, `out-of-memory`, `inference-failed`
 */
export async function joinRows(
  rows: readonly RowOfCache[],
  side: PaddingSide,
  { cache }: DecoderInterface,
): Promise<KeyValueCache> {
  const length = Math.max(...rows.map((row) => row.length));
  const made = await assemble(
    cache.map(({ past: { name }, tokenAxis }) => joining(rows, name, tokenAxis!, length, side)),
  );
  return new KeyValueCache(length, Object.fromEntries(cache.map(({ past }, index) => [past.name, made[index]!])));
}

function joining(rows: readonly RowOfCache[], name: string, axis: number, length: number, side: PaddingSide): Assembly {
  const tensorOf = ({ cache }: RowOfCache): Tensor => cache.tensors[name]!;
  const { dims } = tensorOf(rows[0]!);
  const outer = sizeOf(dims.slice(1, axis));
  const inner = sizeOf(dims.slice(axis + 1));
  const pieces = rows.map((row, index) => {
    const tensor = tensorOf(row);
    const size = tensor.dims[axis]!;
    const pad = side === 'left' ? length - row.length : 0;
    const runs = Array.from({ length: outer }, (_, at): Run => ({
      from: ((row.row * outer + at) * size + row.start) * inner,
      to: ((index * outer + at) * length + pad) * inner,
      length: row.length * inner,
    }));
    return { tensor, runs };
  });
  return { dims: dims.map((size, at) => (at === 0 ? rows.length : at === axis ? length : size)), pieces };
}

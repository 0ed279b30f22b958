import type { Tensors } from '../../src/contract/tensors.ts';
import type { GoldenFeeds } from './fixtures.ts';

const ARRAYS = { float32: Float32Array, float16: Uint16Array, int32: Int32Array, uint8: Uint8Array, bool: Uint8Array };

/** Tensors as a golden file has them, as tensors. */
export function tensors(feeds: GoldenFeeds): Tensors {
  return Object.fromEntries(
    Object.entries(feeds).map(([name, { dtype, dims, data }]) => {
      if (dtype === 'string') return [name, { dtype, dims, data: data as string[] }];
      const array =
        dtype === 'int64'
          ? BigInt64Array.from(data as string[], BigInt)
          : ARRAYS[dtype as 'float32'].from(data as string[], Number);
      return [name, { dtype, dims, data: array }];
    }),
  );
}

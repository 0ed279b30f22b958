import { readFileSync } from 'node:fs';

/** Where an array is in `expected.bin`. */
export interface Stored {
  readonly dtype: 'uint8' | 'float32' | 'int64';
  readonly dims: readonly number[];
  readonly offset: number;
}

/** One model, transform and image; see `make.py`. */
export interface SegmenterCase {
  readonly model: string;
  readonly transform: string;
  readonly image: string;
  readonly size: readonly [width: number, height: number];
  readonly handler: Readonly<Record<string, unknown>>;
  /** The model's answer. */
  readonly output: Stored;
  readonly expected: {
    readonly classes: Stored;
    readonly scores?: Stored;
    readonly mask: Stored;
    readonly torchserve?: Stored;
  };
}

const read = (name: string) => readFileSync(new URL(name, import.meta.url));

export const { cases } = JSON.parse(read('expected.json').toString()) as { cases: readonly SegmenterCase[] };
const bytes = Uint8Array.from(read('expected.bin')).buffer;

const ARRAYS = { uint8: Uint8Array, float32: Float32Array, int64: BigInt64Array };

export function values<D extends Stored['dtype']>({
  dtype,
  dims,
  offset,
}: Stored & { readonly dtype: D }): InstanceType<(typeof ARRAYS)[D]> {
  const length = dims.reduce((product, dim) => product * dim, 1);
  return new ARRAYS[dtype](bytes, offset, length) as InstanceType<(typeof ARRAYS)[D]>;
}

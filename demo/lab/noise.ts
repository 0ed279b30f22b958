import type { DType, Tensor, TensorInfo, Tensors } from '../../src/index.js';

/** Sizes of dimensions that a model leaves open, by their key. */
export type Sizes = Readonly<Record<string, number>>;

/** A dimension that a model leaves open. */
export interface OpenDimension {
  /** Its symbol, or where it is, when it has none. */
  readonly key: string;
  readonly suggested: number;
}

/** Returns the dimensions that the visitor has to choose: all open ones but the first axis, which is the batch. */
export function openDimensions(inputs: readonly TensorInfo[]): readonly OpenDimension[] {
  const keys = new Map<string, number>();
  for (const input of inputs) {
    for (const [axis, size] of input.dims.entries()) {
      if (axis > 0 && typeof size !== 'number') keys.set(keyOf(input, axis), input.dims.length === 4 ? 224 : 16);
    }
  }
  return [...keys].map(([key, suggested]) => ({ key, suggested }));
}

/** Symbols with their sizes, as `engine.freeDimensions` takes them; the batch is 1. */
export function freeDimensions(inputs: readonly TensorInfo[], sizes: Sizes): Record<string, number> {
  const symbols = inputs.flatMap((input) =>
    input.dims.map((size, axis) => [size, sizeOf(input, axis, sizes)] as const),
  );
  return Object.fromEntries(symbols.filter(([symbol]) => typeof symbol === 'string'));
}

/**
 * Returns the same random input at every call: floats in 0..1, integers and booleans 0 or 1, which are valid indices of
 * any table.
 */
export function noise(inputs: readonly TensorInfo[], sizes: Sizes): Tensors {
  const next = random(1);
  return Object.fromEntries(
    inputs.map((input): [string, Tensor] => {
      const dims = input.dims.map((_, axis) => sizeOf(input, axis, sizes));
      const length = dims.reduce((product, size) => product * size, 1);
      return [input.name, { dtype: input.dtype, dims, data: values(input.dtype, length, next) }];
    }),
  );
}

function sizeOf(input: TensorInfo, axis: number, sizes: Sizes): number {
  const size = input.dims[axis];
  return typeof size === 'number' ? size : (sizes[keyOf(input, axis)] ?? 1);
}

function keyOf({ name, dims }: TensorInfo, axis: number): string {
  return (dims[axis] as string | null) ?? `${name}, axis ${axis}`;
}

const INTEGERS = {
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  bool: Uint8Array,
};

function values(dtype: DType, length: number, next: () => number): Tensor['data'] {
  switch (dtype) {
    case 'float32':
      return Float32Array.from({ length }, next);
    case 'float64':
      return Float64Array.from({ length }, next);
    case 'float16':
      // 0.5 to 1: the exponent is the same for all of them.
      return Uint16Array.from({ length }, () => 0x3800 + Math.floor(next() * 0x400));
    case 'int64':
      return BigInt64Array.from({ length }, () => (next() < 0.5 ? 0n : 1n));
    case 'uint64':
      return BigUint64Array.from({ length }, () => (next() < 0.5 ? 0n : 1n));
    case 'string':
      return Array.from({ length }, () => (next() < 0.5 ? 'a' : 'b'));
    default: {
      const array = new INTEGERS[dtype](length);
      for (let index = 0; index < length; index++) array[index] = next() < 0.5 ? 0 : 1;
      return array;
    }
  }
}

/** Returns a linear congruential generator with the constants of Numerical Recipes: 0 ≤ x < 1. */
function random(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

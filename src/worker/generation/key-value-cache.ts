import type { Tensors } from '../../contract/tensors.js';
import { bytesOf } from '../tensors/gpu-memory.js';
import { freeTensors, useTensors } from '../tensors/tensor-users.js';
import { gather, type Part, type Range } from '../tensors/gather.js';
import type { DecoderInterface } from './decoder-interface.js';

/**
 * The key–value cache of rows: what the model keeps of tokens that it has run. It is never changed: a run returns a new
 * one. Its tensors stay where they are until each user has called `free`; whoever gets a cache from a function is one.
 */
export class KeyValueCache {
  /**
   * @param length how many tokens of each row it covers
   * @param tensors by the name of the input; with the encoder's output, if the decoder reads one
   */
  constructor(
    readonly length: number,
    readonly tensors: Tensors,
  ) {}

  get bytes(): number {
    return Object.values(this.tensors).reduce((sum, tensor) => sum + bytesOf(tensor), 0);
  }

  /** Returns it for one user more. */
  use(): this {
    useTensors(Object.values(this.tensors));
    return this;
  }

  free(): void {
    freeTensors(Object.values(this.tensors));
  }
}

/** Returns whether a cache can be made shorter: each of its tensors has one position for each token. */
export function canBeCut({ cache }: DecoderInterface): boolean {
  return cache.every(({ tokenAxis }) => tokenAxis !== undefined);
}

/** Returns the cache of the first tokens. @throws `device-lost`, `out-of-memory`, `inference-failed` */
export async function firstTokens(
  { tensors }: KeyValueCache,
  { cache }: DecoderInterface,
  length: number,
): Promise<KeyValueCache> {
  const parts = cache.map(({ past: { name }, tokenAxis }) => ({ name, tensor: tensors[name]!, axis: tokenAxis! }));
  return new KeyValueCache(length, await takeNamed(parts, [{ start: 0, length }]));
}

/**
 * Returns the cache of other rows, each of them one of the cache's own.
 * @throws `device-lost`, `out-of-memory`, `inference-failed`
 */
export async function takeRows(
  { length, tensors }: KeyValueCache,
  model: DecoderInterface,
  rows: readonly number[],
): Promise<KeyValueCache> {
  const own = new Map(model.cache.map((one) => [one.past.name, one] as const));
  const parts = Object.entries(tensors).map(([name, tensor]) => ({
    name,
    tensor,
    axis: own.get(name)?.rowAxis ?? 0,
    // All rows have the same encoder's text.
    isOfEncoder: own.get(name)?.isOfEncoder ?? true,
  }));
  const areSame = rows.every((row, index) => row === index);
  const [same, others] = [true, false].map((wanted) =>
    parts.filter(
      ({ tensor, axis, isOfEncoder }) => ((isOfEncoder || areSame) && tensor.dims[axis] === rows.length) === wanted,
    ),
  ) as [typeof parts, typeof parts];
  const taken = await takeNamed(
    others,
    rows.map((start) => ({ start, length: 1 })),
  );
  useTensors(same.map(({ tensor }) => tensor));
  return new KeyValueCache(length, {
    ...Object.fromEntries(same.map(({ name, tensor }) => [name, tensor])),
    ...taken,
  });
}

async function takeNamed(
  parts: readonly (Part & { readonly name: string })[],
  ranges: readonly Range[],
): Promise<Tensors> {
  const taken = await gather(parts, ranges);
  return Object.fromEntries(parts.map(({ name }, index) => [name, taken[index]!] as const));
}

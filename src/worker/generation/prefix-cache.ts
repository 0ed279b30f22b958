import type { Tensor } from '../../contract/tensors.js';
import type { KeyValueCache } from './decoder.js';
import type { DecoderInterface } from './decoder-interface.js';

interface Entry {
  readonly tokens: readonly number[];
  readonly cache: KeyValueCache;
  readonly bytes: number;
}

/**
 * The key–value caches of earlier rows: a row that begins as one of them runs only the tokens that differ. The least
 * recently used ones go when all of them together have too many bytes.
 */
export class PrefixCache {
  /** The most recently used first. */
  #entries: readonly Entry[] = [];
  readonly #interface: DecoderInterface;
  readonly #maxBytes: number;

  constructor(model: DecoderInterface, maxBytes: number) {
    this.#interface = model;
    this.#maxBytes = maxBytes;
  }

  /**
   * Returns the cache of the longest common beginning of a row and an earlier one; undefined if there is none. At least
   * the row's last token is left to run, for its logits.
   */
  find(tokens: readonly number[]): KeyValueCache | undefined {
    let best: { readonly entry: Entry; readonly length: number } | undefined;
    for (const entry of this.#entries) {
      const length = Math.min(commonLength(entry.tokens, tokens), tokens.length - 1);
      const isUsable = length > 0 && (length === entry.cache.length || this.#canBeCut);
      if (isUsable && length > (best?.length ?? 0)) best = { entry, length };
    }
    if (!best) return undefined;
    const { entry, length } = best;
    this.#entries = [entry, ...this.#entries.filter((other) => other !== entry)];
    return length === entry.cache.length ? entry.cache : this.#cut(entry.cache, length);
  }

  /** Adds a row's cache. Those of its beginnings need not be kept any more. */
  add(tokens: readonly number[], cache: KeyValueCache): void {
    const covered = tokens.slice(0, cache.length);
    const bytes = Object.values(cache.tensors).reduce((sum, { data }) => sum + (data as Uint8Array).byteLength, 0);
    if (this.#interface.cache.length === 0 || bytes > this.#maxBytes) return;
    const others = this.#entries.filter((entry) => commonLength(entry.tokens, covered) < entry.tokens.length);
    let room = this.#maxBytes - bytes;
    this.#entries = [{ tokens: covered, cache, bytes }, ...others.filter((entry) => (room -= entry.bytes) >= 0)];
  }

  /** Whether a cache can be made shorter: each of its tensors has one place for each token. */
  get #canBeCut(): boolean {
    return this.#interface.cache.every(({ tokenAxis }) => tokenAxis !== undefined);
  }

  #cut({ tensors }: KeyValueCache, length: number): KeyValueCache {
    const cut = this.#interface.cache.map(
      ({ past: { name }, tokenAxis }) => [name, firstOf(tensors[name]!, tokenAxis!, length)] as const,
    );
    return { length, tensors: Object.fromEntries(cut) };
  }
}

function commonLength(one: readonly number[], other: readonly number[]): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one[length] === other[length]) length += 1;
  return length;
}

/** Returns a tensor with the first `length` places of an axis. */
function firstOf(tensor: Tensor, axis: number, length: number): Tensor {
  const { dims } = tensor;
  const data = tensor.data as Float32Array;
  const inner = dims.slice(axis + 1).reduce((product, size) => product * size, 1);
  const outer = dims.slice(0, axis).reduce((product, size) => product * size, 1);
  const cut = new (data.constructor as Float32ArrayConstructor)(outer * length * inner);
  for (let at = 0; at < outer; at++) {
    const from = at * dims[axis]! * inner;
    cut.set(data.subarray(from, from + length * inner), at * length * inner);
  }
  return { dtype: tensor.dtype, dims: dims.map((size, at) => (at === axis ? length : size)), data: cut };
}

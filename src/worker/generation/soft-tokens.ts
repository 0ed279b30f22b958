/** Vectors that stand in a prompt in place of tokens: what a model has made of a picture. */
import type { KeptValues } from '../../contract/kept-values.js';
import type { Tensor } from '../../contract/tensors.js';
import { toFloats } from '../tensors/tensors.js';

/** Numbers from here on are no tokens of a vocabulary: each stands for one vector. */
const FIRST = 2 ** 32;

/** The vectors of one picture. */
export interface SoftPicture {
  readonly key: string;
  /** The number of the first vector. */
  readonly first: number;
  readonly count: number;
}

interface Entry extends SoftPicture {
  /** How many prompts use it now. */
  users: number;
  readonly vectors: Promise<Float32Array>;
  /** The same once they are there. */
  data?: Float32Array;
}

/**
 * Gives each vector of each picture a number of its own, which stands in the prompt as a token does. So two prompts with
 * the same numbers have the same pictures, and the cached beginning of one serves the other. Pictures are cached for the
 * next question, as long as the worker's budget for cached values has room.
 */
export class SoftTokens {
  readonly #kept: KeptValues;
  readonly #entries = new Map<string, Entry>();
  #next = FIRST;

  constructor(kept: KeptValues) {
    this.#kept = kept;
  }

  /**
   * Returns the numbers of a picture's vectors, which stay until `release`.
   * @param key the same for the same picture alone
   * @param make makes the vectors, `count` of them, if they are not cached
   */
  async hold(key: string, count: number, make: () => Promise<Tensor>): Promise<SoftPicture> {
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = { key, first: this.#next, count, users: 0, vectors: make().then(toFloats) };
      this.#next += count;
      this.#entries.set(key, entry);
    }
    entry.users += 1;
    try {
      entry.data = await entry.vectors;
    } catch (error) {
      entry.users -= 1;
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
    // Counts as its use.
    if (this.#kept.get(entry) === undefined)
      this.#kept.set(entry, entry.data, { bytes: entry.data.byteLength, free: () => this.#forget(entry) });
    return entry;
  }

  /** Ends the use of a picture. */
  release(picture: SoftPicture): void {
    const entry = picture as Entry;
    entry.users -= 1;
    if (!this.#kept.has(entry)) this.#forget(entry);
  }

  /** Returns the vector of a number; undefined for a token of the vocabulary. */
  vectorOf(number: number): Float32Array | undefined {
    if (number < FIRST) return undefined;
    for (const { first, count, data } of this.#entries.values()) {
      const at = number - first;
      if (at < 0 || at >= count || !data) continue;
      const size = data.length / count;
      return data.subarray(at * size, (at + 1) * size);
    }
    throw new Error(`No picture has the number ${number}.`);
  }

  #forget(entry: Entry): void {
    if (entry.users === 0 && this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
  }
}

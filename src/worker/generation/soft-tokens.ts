/** Vectors that stand in a prompt in place of tokens: what a model has made of a picture or of sound. */
import type { KeptValues } from '../../contract/kept-values.js';
import type { Tensor } from '../../contract/tensors.js';
import { toFloats } from '../tensors/tensors.js';

/** Numbers from here on are no tokens of a vocabulary: each stands for one vector. */
const FIRST = 2 ** 32;

/** A picture that becomes vectors. The same is done with recordings. */
export interface SoftSource {
  /** The same for the same picture alone. */
  readonly key: string;
  /** The token that each vector replaces. */
  readonly token: number;
  /** How many vectors it becomes. */
  readonly count: number;
  /** How many rows and columns of vectors it has, if they have positions by both. */
  readonly grid?: { readonly rows: number; readonly columns: number };
}

/** The vectors of one picture. */
export interface SoftPicture extends SoftSource {
  /** The number of the first vector. */
  readonly first: number;
}

/** The positions of tokens on three axes: time, height and width. */
type Positions = readonly [number[], number[], number[]];

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
   * @param make makes the vectors, if they are not cached
   */
  async hold({ key, token, count, grid }: SoftSource, make: () => Promise<Tensor>): Promise<SoftPicture> {
    let entry = this.#entries.get(key);
    if (!entry) {
      const vectors = make().then(toFloats);
      entry = { key, token, first: this.#next, count, users: 0, vectors, ...(grid && { grid }) };
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

  /** Returns the vector of a number, and the token that it replaces; undefined for a token of the vocabulary. */
  vectorOf(number: number): { readonly vector: Float32Array; readonly token: number } | undefined {
    const entry = this.#entryOf(number);
    if (!entry) return undefined;
    const [size, at] = [entry.data!.length / entry.count, number - entry.first];
    return { vector: entry.data!.subarray(at * size, (at + 1) * size), token: entry.token };
  }

  /** Returns the positions of a prompt, on three axes. A picture's vectors stand side by side, and texts after them. */
  positionsOf(numbers: readonly number[]): Positions {
    const found: Positions = [[], [], []];
    let next = 0;
    while (found[0].length < numbers.length) {
      const { grid = { rows: 1, columns: 1 } } = this.#entryOf(numbers[found[0].length]!) ?? {};
      const { rows, columns } = grid;
      for (let at = 0; at < rows * columns; at++) {
        found[0].push(next);
        found[1].push(next + Math.floor(at / columns));
        found[2].push(next + (at % columns));
      }
      next += Math.max(rows, columns);
    }
    // The prompt may end within a picture.
    for (const axis of found) axis.length = numbers.length;
    return found;
  }

  /** Returns the picture of a number; undefined for a token of the vocabulary. */
  #entryOf(number: number): Entry | undefined {
    if (number < FIRST) return undefined;
    for (const entry of this.#entries.values())
      if (number >= entry.first && number < entry.first + entry.count && entry.data) return entry;
    throw new Error(`No picture has the number ${number}.`);
  }

  #forget(entry: Entry): void {
    if (entry.users === 0 && this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
  }
}

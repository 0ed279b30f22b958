import type { Detokenizer } from '../../text/tokenizer.js';
import type { Automaton, State } from './automaton.js';

/** The maximum number of cached sets of tokens. One of a vocabulary of 150,000 tokens has 19 kB. */
const MAX_SETS = 256;

/**
 * The tokens of a model as bytes, in the order of their bytes: those that begin alike are beside each other, and their
 * beginning is compared once.
 */
export class Vocabulary {
  readonly #bytes: readonly (string | undefined)[];
  /** In the order of their bytes. */
  readonly #ids: Uint32Array;
  /** How many bytes each of them has in common with the one before it. */
  readonly #common: Uint32Array;
  /** One bit for each token, by the state in which these tokens can come. */
  readonly #sets = new Map<State, Uint32Array>();

  /** @param bytes of each token by its id, as characters from 0 to 255; undefined if it stands for no text */
  constructor(bytes: readonly (string | undefined)[]) {
    this.#bytes = bytes;
    this.#ids = Uint32Array.from(
      [...bytes.keys()]
        .filter((id) => bytes[id])
        .sort((one, other) => (bytes[one]! < bytes[other]! ? -1 : Number(bytes[one]! > bytes[other]!))),
    );
    this.#common = Uint32Array.from(this.#ids, (id, at) =>
      at === 0 ? 0 : commonLength(bytes[id]!, bytes[this.#ids[at - 1]!]!),
    );
  }

  /** What makes the text of an answer: exactly the bytes of its tokens. */
  get detokenizer(): Detokenizer {
    const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
    return {
      pieceOf: (id) => this.#bytes[id],
      join: (pieces) => utf8.decode(Uint8Array.from(pieces.join(''), (one) => one.charCodeAt(0))),
      isByte: () => false,
      unsettled: 0,
    };
  }

  /** Returns the state after a token; undefined if the token cannot come. @throws as `Automaton.step` does */
  step(automaton: Automaton, from: State, id: number): State | undefined {
    automaton.beginSearch();
    const bytes = this.#bytes[id] ?? '';
    let state = bytes === '' ? undefined : from;
    for (let at = 0; state && at < bytes.length; at++) state = automaton.step(state, bytes.charCodeAt(at));
    return state;
  }

  /**
   * Returns the tokens that can come in a state: bit `id % 32` of the number at `id / 32`.
   * @throws as `Automaton.step` does
   */
  tokensIn(automaton: Automaton, state: State): Uint32Array {
    const known = this.#sets.get(state);
    this.#sets.delete(state);
    const found = known ?? this.#find(automaton, state);
    // The most recently used is the last one.
    this.#sets.set(state, found);
    if (this.#sets.size > MAX_SETS) this.#sets.delete(this.#sets.keys().next().value!);
    return found;
  }

  #find(automaton: Automaton, start: State): Uint32Array {
    automaton.beginSearch();
    const found = new Uint32Array(Math.ceil(this.#bytes.length / 32));
    // The states after each byte of the token before, as far as it can come.
    const states: State[] = [start];
    let length = 0;
    for (let at = 0; at < this.#ids.length; at++) {
      // The byte at which the token before failed is this one's, too.
      if (this.#common[at]! > length) continue;
      const id = this.#ids[at]!;
      const bytes = this.#bytes[id]!;
      length = this.#common[at]!;
      for (; length < bytes.length; length++) {
        const next = automaton.step(states[length]!, bytes.charCodeAt(length));
        if (!next) break;
        states[length + 1] = next;
      }
      if (length === bytes.length) found[id >>> 5]! |= 1 << (id & 31);
    }
    return found;
  }
}

function commonLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return at;
}

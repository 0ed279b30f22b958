/** Which tokens of an answer make a part of it. */
import type { RankedText } from '../../../shared/generated-text.js';

/** Gives each part of an answer its tokens. Those of the marks between parts belong to none. */
export class TokenShares {
  /** The tokens behind the last part. */
  #rest: readonly RankedText[] = [];

  /** Adds tokens of the answer. */
  add(tokens: readonly RankedText[]): void {
    this.#rest = [...this.#rest, ...tokens];
  }

  /** Drops the tokens that there are: those of a call. */
  drop(): void {
    this.#rest = [];
  }

  /** Takes the tokens of the next part: all that there are, if their bytes are not its text. */
  take(text: string): readonly RankedText[] {
    const tokens = this.#rest;
    if (tokens.length === 0) return tokens;
    const pieces = tokens.map(({ bytes }) => binaryOf(bytes));
    const wanted = binaryOf(new TextEncoder().encode(text));
    const all = pieces.join('');
    const starts: number[] = [];
    let at = 0;
    for (const piece of pieces) {
      starts.push(at);
      at += piece.length;
    }
    // A part rather begins with a token than inside of one, as the word of a mark.
    const start = starts.find((at) => all.startsWith(wanted, at)) ?? all.indexOf(wanted);
    if (start < 0) {
      this.drop();
      return tokens;
    }
    const end = start + wanted.length;
    const isOfPart = (index: number): boolean => starts[index]! < end && starts[index]! + pieces[index]!.length > start;
    this.#rest = tokens.filter((_, index) => starts[index]! >= end);
    return tokens.filter((_, index) => isOfPart(index));
  }
}

/** Returns bytes as characters from 0 to 255. */
function binaryOf(bytes: Iterable<number>): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
}

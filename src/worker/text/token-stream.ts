import { MAX_PIECE_LENGTH, tooLongToCut } from './limits.js';

/** Texts are cut at the first point after this many UTF-16 units. */
const PIECE = 1000;

/** A piece of a text, and where in the text it begins. */
type TextPiece = readonly [text: string, from: number];

/** The tokens of a text, from its start or from its end on. Tokenizes only as much of the text as someone asks for. */
export class TokenStream<Token> {
  readonly #pieces: Generator<TextPiece>;
  readonly #read: TextPiece[];
  /** The tokens of each piece, in the order in which pieces are read. */
  readonly #tokens: (readonly Token[])[] = [];
  #length = 0;
  #done = false;

  /**
   * @param points matches the empty string where the text can be cut; if undefined, it cannot
   * @param tokenize returns the tokens of a piece, which begins at `from`
   * @param side the side of the text on which tokens may be left out
   */
  constructor(
    text: string,
    points: RegExp | undefined,
    private readonly tokenize: (text: string, from: number) => readonly Token[],
    private readonly side: 'left' | 'right',
  ) {
    this.#pieces = piecesOf(text, points);
    this.#read = side === 'left' ? [...this.#pieces] : [];
  }

  /** The number of tokens read so far. */
  get length(): number {
    return this.#length;
  }

  /** Whether all of the text has been read. */
  get done(): boolean {
    return this.#done;
  }

  /**
   * Reads until there are at least `count` tokens, or the text ends.
   * @throws `invalid-input` if the tokenizer would get too long a text at once
   */
  fill(count: number): void {
    while (this.#length < count && !this.#done) this.step();
  }

  /** Returns whether there are more than `count` tokens. */
  hasMoreThan(count: number): boolean {
    this.fill(count + 1);
    return this.#length > count;
  }

  /** Reads one piece. */
  step(): void {
    const piece = this.side === 'left' ? this.#read.pop() : (this.#pieces.next().value as TextPiece | undefined);
    if (piece === undefined) {
      this.#done = true;
      return;
    }
    const [text, from] = piece;
    if (text.length > MAX_PIECE_LENGTH) throw tooLongToCut(text.length);
    const tokens = this.tokenize(text, from);
    this.#length += tokens.length;
    this.#tokens.push(tokens);
  }

  /** Returns the `count` tokens at the side from which the text was read; all that there are, if there are fewer. */
  take(count: number): readonly Token[] {
    this.fill(count);
    const tokens = (this.side === 'left' ? this.#tokens.toReversed() : this.#tokens).flat();
    return this.side === 'left' ? tokens.slice(Math.max(0, tokens.length - count)) : tokens.slice(0, count);
  }
}

function* piecesOf(text: string, points: RegExp | undefined): Generator<TextPiece> {
  let from = 0;
  if (points) {
    const search = new RegExp(points);
    while (text.length - from > 2 * PIECE) {
      search.lastIndex = from + PIECE;
      const point = search.exec(text)?.index;
      if (point === undefined) break;
      yield [text.slice(from, point), from];
      from = point;
    }
  }
  yield [text.slice(from), from];
}

import { TabServeError } from '../../contract/errors.js';
import type { TokenStream } from './token-stream.js';

/** How a row with too many tokens is truncated: `truncation` of a `tokenizer.json`. */
export interface Truncation {
  readonly strategy: 'longest_first' | 'only_first' | 'only_second';
  /** The side on which tokens are removed. */
  readonly side: 'left' | 'right';
}

/**
 * Truncates one text, or a pair together, to `room` tokens. `longest_first` truncates the longer text to the room that
 * the shorter one leaves; if each of them has more than half of `room`, it truncates both to a half. This is
 * `truncate_encodings` of Hugging Face's tokenizers. Reads no more of a text than it needs.
 * @param strategy for a pair
 * @throws `invalid-input` if only one text of a pair may be truncated, and the other one leaves no room for it
 */
export function truncate<Token>(
  first: TokenStream<Token>,
  second: TokenStream<Token> | undefined,
  room: number,
  strategy: Truncation['strategy'],
): readonly [readonly Token[], (readonly Token[])?] {
  if (!second) return [first.take(room)];
  if (strategy === 'only_first') return [truncateOne(first, second, room, 'first'), second.take(room)];
  if (strategy === 'only_second') return [first.take(room), truncateOne(second, first, room, 'second')];
  first.fill(room);
  second.fill(room);
  const [shorter, longer] = share(Math.min(first.length, second.length), room);
  const inOrder = shorter === longer || !isLonger(first, second);
  return inOrder ? [first.take(shorter), second.take(longer)] : [first.take(longer), second.take(shorter)];
}

function truncateOne<Token>(
  target: TokenStream<Token>,
  other: TokenStream<Token>,
  room: number,
  name: string,
): readonly Token[] {
  other.fill(room + 1);
  const space = room - other.length;
  target.fill(1);
  if (space < 0 || (space === 0 && target.length > 0))
    throw new TabServeError(
      'invalid-input',
      `Only the ${name} text of the pair may be truncated, but the other text has ${room} tokens or more, and the limit for both is ${room}. Shorten the other text, or raise maxLength.`,
    );
  return target.take(space);
}

/** Returns whether the first text has more tokens. Reads only as far as this needs. */
function isLonger<Token>(first: TokenStream<Token>, second: TokenStream<Token>): boolean {
  for (;;) {
    const fewer = first.length <= second.length ? first : second;
    if (fewer.done) return fewer === second;
    fewer.step();
  }
}

/** Returns the number of tokens for the shorter and for the longer of two texts. */
function share(shorter: number, room: number): [number, number] {
  if (shorter <= room - shorter) return [shorter, room - shorter];
  return [Math.floor(room / 2), Math.ceil(room / 2)];
}

import { TabServeError } from '../contract/errors.js';

/** How a row with too many tokens is truncated: `truncation` of a `tokenizer.json`. */
export interface Truncation {
  readonly strategy: 'longest_first' | 'only_first' | 'only_second';
  /** The side on which tokens are removed. */
  readonly side: 'left' | 'right';
}

type Pair = readonly [readonly number[], readonly number[] | undefined];

/**
 * Truncates one text, or a pair together, to `room` tokens. `longest_first` truncates the longer text to the room that the shorter one leaves; if each of them
 * has more than half of `room`, it truncates both to a half. This is `truncate_encodings` of Hugging Face's tokenizers.
 * @throws `invalid-input` if the only text that may be truncated has too few tokens
 */
export function truncate([first, second]: Pair, room: number, { strategy, side }: Truncation): Pair {
  const excess = first.length + (second?.length ?? 0) - room;
  const cut = (ids: readonly number[], length: number): readonly number[] =>
    length >= ids.length ? ids : side === 'right' ? ids.slice(0, length) : ids.slice(ids.length - length);
  if (excess <= 0) return [first, second];
  if (second === undefined) return [cut(first, room), undefined];
  if (strategy === 'longest_first') {
    const [short, long] = share(Math.min(first.length, second.length), room);
    return first.length <= second.length
      ? [cut(first, short), cut(second, long)]
      : [cut(first, long), cut(second, short)];
  }
  const target = strategy === 'only_first' ? first : second;
  if (target.length <= excess)
    throw new TabServeError(
      'invalid-input',
      `The pair has ${excess} tokens too many, and only its ${strategy === 'only_first' ? 'first' : 'second'} text may be truncated, which has ${target.length}. Shorten the other text, or raise maxLength.`,
    );
  const left = cut(target, target.length - excess);
  return strategy === 'only_first' ? [left, second] : [first, left];
}

/** Returns the number of tokens for the shorter and for the longer of two texts. */
function share(shorter: number, room: number): [number, number] {
  if (shorter <= room - shorter) return [shorter, room - shorter];
  return [Math.floor(room / 2), Math.ceil(room / 2)];
}

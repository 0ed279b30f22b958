import { TabServeError } from '../contract/errors.js';

/** How the tokens of a row that is too long are cut, as `truncation` of a `tokenizer.json` says. */
export interface Truncation {
  readonly strategy: 'longest_first' | 'only_first' | 'only_second';
  /** The side that loses tokens. */
  readonly side: 'left' | 'right';
}

type Pair = readonly [readonly number[], readonly number[] | undefined];

/**
 * Cuts one text, or a pair, to `room` tokens together. `longest_first` cuts the longer one down to what the other leaves, and both to a half
 * where that is not enough: Hugging Face's tokenizers, `truncate_encodings`.
 * @throws `invalid-input` if the one text that may be cut is too short for it
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
      `The pair is ${excess} tokens too long, and its ${strategy === 'only_first' ? 'first' : 'second'} text, which alone may be cut, has ${target.length}.`,
    );
  const left = cut(target, target.length - excess);
  return strategy === 'only_first' ? [left, second] : [first, left];
}

/** Tokens for the shorter and for the longer of two texts. */
function share(shorter: number, room: number): [number, number] {
  if (shorter <= room - shorter) return [shorter, room - shorter];
  return [Math.floor(room / 2), Math.ceil(room / 2)];
}

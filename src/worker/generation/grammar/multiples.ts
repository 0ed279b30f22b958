/** The multiples of a number, in their digits. */
import { anyOf, choice, oneOf, optional, repeat, sequence, text, type Grammar, type Rule } from './grammar.js';
import { decimalOf } from './numbers.js';

/** The maximum number of remainders that the digits so far may have. */
const MAX_STATES = 2000;

/**
 * Returns the multiples of a number above 0, without an exponent. A part of the grammar may lead to none of them.
 * @returns undefined if the number has too many digits
 */
export function multiplesOf(step: number): Grammar | undefined {
  const { whole, fraction } = decimalOf(step);
  const places = fraction.length;
  const digits = BigInt(`${whole}${fraction}`);
  if (digits * BigInt(places + 1) > BigInt(MAX_STATES)) return undefined;
  const unit = Number(digits);
  /** By how many digits there are after the point, and by the remainder of the digits so far. */
  const rules = Array.from({ length: places + 1 }, () => Array.from({ length: unit }, (): Rule => ({ kind: 'rule' })));
  const isMultiple = (remainder: number, place: number): boolean =>
    Number((BigInt(remainder) * 10n ** BigInt(places - place)) % digits) === 0;
  const ends = (remainder: number, place: number): readonly Grammar[] =>
    isMultiple(remainder, place) ? [sequence()] : [];
  /** One more digit. */
  const next = (remainder: number, place: number, first = 0): readonly Grammar[] =>
    Array.from({ length: 10 - first }, (_, at) =>
      sequence(text(String(first + at)), rules[place]![(10 * remainder + first + at) % unit]!),
    );
  const point = (remainder: number): Grammar =>
    sequence(
      text('.'),
      places === 0 ? (remainder === 0 ? repeat(text('0'), 1) : oneOf([])) : oneOf(next(remainder, 1)),
    );
  for (const [place, ofPlace] of rules.entries())
    for (const [remainder, rule] of ofPlace.entries())
      rule.body = oneOf(
        place === 0
          ? [...ends(remainder, 0), point(remainder), ...next(remainder, 0)]
          : place < places
            ? [...ends(remainder, place), ...next(remainder, place + 1)]
            : remainder === 0
              ? [repeat(anyOf('0'), 0)]
              : [],
      );
  const zero = sequence(text('0'), oneOf([sequence(), point(0)]));
  return sequence(optional(text('-')), choice(zero, oneOf(next(0, 0, 1))));
}

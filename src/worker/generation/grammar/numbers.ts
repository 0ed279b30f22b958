/** Grammars of numbers within whole bounds. */
import { bytes, choice, repeat, sequence, text, type Grammar } from './grammar.js';
import { MAX_DIGITS } from './json.js';

/** The largest number of so many digits. */
const MOST = 10 ** MAX_DIGITS - 1;
const ZERO = 0x30;

/** Bounds of a number. Each is a whole number, or infinite. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Whether the bounds themselves are left out. */
  readonly isMinExclusive: boolean;
  readonly isMaxExclusive: boolean;
}

/** Returns the whole numbers within bounds; undefined if there are none of so many digits. */
export function integersWithin({ min, max, isMinExclusive, isMaxExclusive }: Bounds): Grammar | undefined {
  const least = Math.max(-MOST, isMinExclusive ? min + 1 : min);
  const most = Math.min(MOST, isMaxExclusive ? max - 1 : max);
  if (least > most) return undefined;
  return choice(
    ...(most >= 0 ? [digitsWithin(Math.max(0, least), most)] : []),
    ...(least < 0 ? [sequence(text('-'), digitsWithin(Math.max(1, -most), -least))] : []),
  );
}

/**
 * Returns the numbers within bounds, whole ones and ones with a point, without an exponent; undefined if there are none.
 * They have so few digits that JavaScript rounds none of them beyond a bound.
 */
export function numbersWithin(bounds: Bounds): Grammar | undefined {
  const { min, max, isMinExclusive, isMaxExclusive } = bounds;
  const [least, most] = [Math.max(-MOST, min), Math.min(MOST, max)];
  const longest = Math.max(...[min, max].filter(Number.isFinite).map((bound) => String(Math.abs(bound)).length));
  const digits = Math.max(1, MAX_DIGITS - longest);
  const whole = integersWithin(bounds);
  // A whole number below the bound, and any digits behind its point.
  const positive = fractions('', Math.max(0, least), most - 1, isMinExclusive ? least : undefined, digits);
  const negative = fractions('-', Math.max(0, -most), -least - 1, isMaxExclusive ? -most : undefined, digits);
  const found = [whole, positive, negative].filter((one) => one !== undefined);
  return found.length === 0 ? undefined : choice(...found);
}

/** @param excluded a whole number behind which the digits must not all be 0 */
function fractions(
  sign: string,
  from: number,
  to: number,
  excluded: number | undefined,
  digits: number,
): Grammar | undefined {
  const any = sequence(text('.'), repeat(digit(0, 9), 1, digits));
  const notZero = choice(
    ...Array.from({ length: digits }, (_, zeros) =>
      sequence(text(`.${'0'.repeat(zeros)}`), digit(1, 9), repeat(digit(0, 9), 0, digits - zeros - 1)),
    ),
  );
  const start = from === excluded ? from + 1 : from;
  const options = [
    ...(from === excluded && from <= to ? [sequence(text(String(from)), notZero)] : []),
    ...(start <= to ? [sequence(digitsWithin(start, to), any)] : []),
  ];
  return options.length === 0 ? undefined : sequence(text(sign), choice(...options));
}

/** Returns the whole numbers of a range that has none below 0. */
function digitsWithin(from: number, to: number): Grammar {
  const lengths = Array.from(
    { length: String(to).length - String(from).length + 1 },
    (_, more) => String(from).length + more,
  );
  return choice(
    ...lengths.map((length) =>
      between(String(Math.max(from, length === 1 ? 0 : 10 ** (length - 1))), String(Math.min(to, 10 ** length - 1))),
    ),
  );
}

/** Returns the numbers from one to another one of as many digits; undefined means without a bound. */
function between(from: string | undefined, to: string | undefined, length = (from ?? to)!.length): Grammar {
  if (from === undefined && to === undefined) return repeat(digit(0, 9), length, length);
  if (length === 0) return sequence();
  const [first, last] = [Number(from?.[0] ?? 0), Number(to?.[0] ?? 9)];
  const rest = (bound: string | undefined, is: boolean): string | undefined => (is ? bound?.slice(1) : undefined);
  const edge = (value: number): Grammar =>
    sequence(digit(value, value), between(rest(from, value === first), rest(to, value === last), length - 1));
  if (first === last) return edge(first);
  const middle =
    last - first > 1 ? [sequence(digit(first + 1, last - 1), between(undefined, undefined, length - 1))] : [];
  return choice(edge(first), ...middle, edge(last));
}

function digit(first: number, last: number): Grammar {
  return bytes([ZERO + first, ZERO + last]);
}

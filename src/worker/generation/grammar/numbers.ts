/** Grammars of numbers within whole bounds. */
import { bytes, choice, repeat, sequence, text, type Grammar } from './grammar.js';
import { MAX_DIGITS } from './json.js';

/** The largest number of so many digits. */
const MAX_VALUE = 10 ** MAX_DIGITS - 1;
const ZERO = 0x30;
const UP_TO_MAX = Array.from({ length: MAX_DIGITS + 1 }, (_, at) => at);

/**
 * A digit by the first and the last one that it may be. As these are the same objects in all numbers, so are the places
 * of alternatives that continue alike.
 */
const DIGIT = UP_TO_MAX.slice(0, 10).map((first) =>
  UP_TO_MAX.slice(0, 10).map((last) => bytes([ZERO + first, ZERO + last])),
);
/** Any digits, by how many there are at least and at most. */
const DIGITS = UP_TO_MAX.map((least) => UP_TO_MAX.map((most) => repeat(DIGIT[0]![9]!, least, most)));
/** A decimal point and digits after it, by their maximum number. */
const FRACTION = UP_TO_MAX.map((most) => sequence(text('.'), DIGITS[1]![most]!));
/** Digits that are not all 0, by how many there are at most. */
const NOT_ZERO: Grammar[] = [];
for (const most of UP_TO_MAX.slice(1)) {
  const begun = sequence(DIGIT[1]![9]!, DIGITS[0]![most - 1]!);
  NOT_ZERO[most] = most === 1 ? begun : choice(begun, sequence(DIGIT[0]![0]!, NOT_ZERO[most - 1]!));
}

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
  const least = Math.max(-MAX_VALUE, isMinExclusive ? min + 1 : min);
  const most = Math.min(MAX_VALUE, isMaxExclusive ? max - 1 : max);
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
  const [least, most] = [Math.max(-MAX_VALUE, min), Math.min(MAX_VALUE, max)];
  const longest = Math.max(...[min, max].filter(Number.isFinite).map((bound) => String(Math.abs(bound)).length));
  const digits = Math.max(1, MAX_DIGITS - longest);
  const whole = integersWithin(bounds);
  // A whole number below the bound, and any digits after its decimal point.
  const positive = fractions('', Math.max(0, least), most - 1, isMinExclusive ? least : undefined, digits);
  const negative = fractions('-', Math.max(0, -most), -least - 1, isMaxExclusive ? -most : undefined, digits);
  const found = [whole, positive, negative].filter((one) => one !== undefined);
  return found.length === 0 ? undefined : choice(...found);
}

/** @param excluded a whole number after which the digits must not all be 0 */
function fractions(
  sign: string,
  from: number,
  to: number,
  excluded: number | undefined,
  digits: number,
): Grammar | undefined {
  const start = from === excluded ? from + 1 : from;
  const options = [
    ...(from === excluded && from <= to ? [sequence(text(`${from}.`), NOT_ZERO[digits]!)] : []),
    ...(start <= to ? [sequence(digitsWithin(start, to), FRACTION[digits]!)] : []),
  ];
  return options.length === 0 ? undefined : sequence(text(sign), choice(...options));
}

/** Returns the whole numbers of a range that has none below 0. */
function digitsWithin(from: number, to: number): Grammar {
  const [shortest, longest] = [String(from).length, String(to).length];
  // Those of so many digits are all within the range.
  const first = from <= Math.max(1, 10 ** (shortest - 1)) ? shortest : shortest + 1;
  const last = to === 10 ** longest - 1 ? longest : longest - 1;
  if (first > last)
    return shortest === longest
      ? between(String(from), String(to))
      : choice(between(String(from), '9'.repeat(shortest)), between(`1${'0'.repeat(longest - 1)}`, String(to)));
  return choice(
    ...(from === 0 ? [DIGIT[0]![0]!] : []),
    ...(first > shortest ? [between(String(from), '9'.repeat(shortest))] : []),
    sequence(DIGIT[1]![9]!, DIGITS[first - 1]![last - 1]!),
    ...(last < longest ? [between(`1${'0'.repeat(longest - 1)}`, String(to))] : []),
  );
}

/** Returns the numbers from one to another one of as many digits. */
function between(from: string, to: string): Grammar {
  const { length } = from;
  if (/^0*$/.test(from) && /^9*$/.test(to)) return DIGITS[length]![length]!;
  const [first, last] = [Number(from[0]), Number(to[0])];
  const edge = (value: number, least: string, most: string): Grammar =>
    sequence(DIGIT[value]![value]!, between(least, most));
  if (first === last) return edge(first, from.slice(1), to.slice(1));
  const middle = last - first > 1 ? [sequence(DIGIT[first + 1]![last - 1]!, DIGITS[length - 1]![length - 1]!)] : [];
  return choice(
    edge(first, from.slice(1), '9'.repeat(length - 1)),
    ...middle,
    edge(last, '0'.repeat(length - 1), to.slice(1)),
  );
}

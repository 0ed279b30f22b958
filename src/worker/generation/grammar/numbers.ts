/** Grammars of numbers within bounds. */
import { bytes, choice, oneOf, repeat, sequence, text, type Grammar } from './grammar.js';
import { MAX_DIGITS } from './json.js';

/** The largest number of this many digits. */
const MAX_VALUE = 10n ** BigInt(MAX_DIGITS) - 1n;
const ZERO = 0x30;
const TEN = Array.from({ length: 10 }, (_, at) => at);

/**
 * A digit by the first and the last one that it may be. As these are the same objects in all numbers, so are the places
 * of alternatives that continue alike.
 */
const DIGIT = TEN.map((first) => TEN.map((last) => bytes([ZERO + first, ZERO + last])));
const DIGITS = new Map<string, Grammar>();

/** Returns any digits, by how many there are at least and at most. */
function digits(least: number, most = least): Grammar {
  const key = `${least} ${most}`;
  const grammar = DIGITS.get(key) ?? repeat(DIGIT[0]![9]!, least, most);
  DIGITS.set(key, grammar);
  return grammar;
}

/** Returns one digit. */
function digit(value: number): Grammar {
  return DIGIT[value]![value]!;
}

/** Bounds of a number, which may be infinite. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Whether the bounds themselves are left out. */
  readonly isMinExclusive: boolean;
  readonly isMaxExclusive: boolean;
}

/** Returns the whole numbers within bounds; undefined if there are none of this many digits. */
export function integersWithin(bounds: Bounds): Grammar | undefined {
  const [least, most] = wholeBounds(bounds);
  if (least > most) return undefined;
  return choice(
    ...(most >= 0n ? [digitsWithin(least > 0n ? least : 0n, most)] : []),
    ...(least < 0n ? [sequence(text('-'), digitsWithin(most < 0n ? -most : 1n, -least))] : []),
  );
}

/** Returns the first and the last whole number within bounds, of as many digits as JavaScript represents, or as the bounds have. */
function wholeBounds({ min, max, isMinExclusive, isMaxExclusive }: Bounds): readonly [bigint, bigint] {
  const [from, to] = [isMinExclusive ? above(min) : Math.ceil(min), isMaxExclusive ? -above(-max) : Math.floor(max)];
  // Beyond the digits of all others, a bound says how many there are.
  const least = from > -Infinity ? BigInt(from) : to < -MAX_VALUE ? 10n * BigInt(to) : -MAX_VALUE;
  const most = to < Infinity ? BigInt(to) : from > MAX_VALUE ? 10n * BigInt(from) : MAX_VALUE;
  if (least > MAX_VALUE || most < -MAX_VALUE) return [least, most];
  return [larger(least, -MAX_VALUE), smaller(most, MAX_VALUE)];
}

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/** Returns the first whole number above another one, as far as JavaScript tells them apart. */
function above(value: number): number {
  const next = Math.floor(value) + 1;
  if (next > value || !Number.isFinite(value)) return next;
  // From 2⁵³ on, numbers are further apart.
  return value + 2 ** (Math.floor(Math.log2(Math.abs(value))) - 51);
}

/**
 * Returns the numbers within bounds, whole ones and ones with a point, without an exponent; undefined if there are none.
 * They have so few digits that JavaScript rounds none of them beyond a bound.
 */
export function numbersWithin(bounds: Bounds): Grammar | undefined {
  const { min, max, isMinExclusive, isMaxExclusive } = bounds;
  const found = [
    integersWithin(bounds),
    fractions('', min > 0 ? min : 0, max, min >= 0 && isMinExclusive, isMaxExclusive),
    fractions('-', max < 0 ? -max : 0, -min, max <= 0 && isMaxExclusive, isMinExclusive),
  ].filter((one) => one !== undefined);
  return found.length === 0 ? undefined : oneOf(found);
}

/** Returns numbers from 0 on that have a point. */
function fractions(
  sign: string,
  min: number,
  max: number,
  isMinExclusive: boolean,
  isMaxExclusive: boolean,
): Grammar | undefined {
  if (min > max || max < 0) return undefined;
  const [from, to] = [decimalOf(min), decimalOf(Math.min(max, Number(MAX_VALUE)))];
  const digitsAfter = (whole: bigint): number => MAX_DIGITS - String(whole).length;
  // Far from all bounds, digits that JavaScript rounds change nothing.
  const most = max > 10 ** MAX_DIGITS ? MAX_DIGITS - 1 : digitsAfter(to.whole);
  const low = { digits: from.fraction, isExclusive: isMinExclusive };
  const high = { digits: to.fraction, isExclusive: isMaxExclusive };
  const after = (whole: bigint, rest: Grammar | undefined): readonly Grammar[] =>
    rest ? [sequence(text(`${whole}.`), rest)] : [];
  const options =
    from.whole === to.whole
      ? after(from.whole, fraction(low, high, digitsAfter(from.whole), true))
      : [
          ...after(from.whole, fraction(low, undefined, digitsAfter(from.whole), true)),
          ...(most > 0 && from.whole + 1n < to.whole
            ? [sequence(digitsWithin(from.whole + 1n, to.whole - 1n), text('.'), digits(1, most))]
            : []),
          ...after(to.whole, fraction(undefined, high, digitsAfter(to.whole), true)),
        ];
  return options.length === 0 ? undefined : sequence(text(sign), oneOf(options));
}

/** The digits that a fraction is at least or at most. */
interface Limit {
  readonly digits: string;
  readonly isExclusive: boolean;
}

/** Returns digits after a point, at most this many, within limits; undefined if there are none. */
function fraction(low: Limit | undefined, high: Limit | undefined, most: number, isFirst = false): Grammar | undefined {
  const isZero = (limit: Limit | undefined): boolean => limit !== undefined && /^0*$/.test(limit.digits);
  if (isZero(high) && high!.isExclusive) return undefined;
  if (isZero(low) && !low!.isExclusive) return fraction(undefined, high, most, isFirst);
  if (!low && !high) return digits(isFirst ? 1 : 0, most);
  const next = (limit: Limit | undefined): Limit | undefined => limit && { ...limit, digits: limit.digits.slice(1) };
  const [first, last] = [Number(low?.digits[0] ?? 0), high ? Number(high.digits[0] ?? 0) : 9];
  // Zeros may follow that are not written.
  const options: Grammar[] = isFirst || low ? [] : [sequence()];
  // No digits are left.
  if (most <= 0) return options[0];
  for (let value = first; value <= last; value++) {
    const rest = fraction(value === first ? next(low) : undefined, value === last ? next(high) : undefined, most - 1);
    if (rest) options.push(sequence(digit(value), rest));
  }
  return options.length === 0 ? undefined : oneOf(options);
}

/** A number from 0 on in its digits. */
interface Decimal {
  readonly whole: bigint;
  readonly fraction: string;
}

/** Returns the digits by which JavaScript writes a number from 0 on, without an exponent. */
export function decimalOf(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', part = ''] = mantissa.split('.');
  const shift = Number(exponent);
  const all = shift < 0 ? `${'0'.repeat(-shift)}${whole}${part}` : `${whole}${part.padEnd(shift, '0')}`;
  const point = all.length - (shift < 0 ? part.length - shift : Math.max(0, part.length - shift));
  return { whole: BigInt(all.slice(0, point) || '0'), fraction: all.slice(point).replace(/0+$/, '') };
}

/** Returns the whole numbers of a range that has none below 0. */
function digitsWithin(from: bigint, to: bigint): Grammar {
  const [shortest, longest] = [String(from).length, String(to).length];
  const power = (exponent: number): bigint => 10n ** BigInt(exponent);
  // Those of this many digits are all within the range.
  const first = from <= larger(1n, power(shortest - 1)) ? shortest : shortest + 1;
  const last = to === power(longest) - 1n ? longest : longest - 1;
  if (first > last)
    return shortest === longest
      ? between(String(from), String(to))
      : choice(between(String(from), '9'.repeat(shortest)), between(`1${'0'.repeat(longest - 1)}`, String(to)));
  return choice(
    ...(from === 0n ? [DIGIT[0]![0]!] : []),
    ...(first > shortest ? [between(String(from), '9'.repeat(shortest))] : []),
    sequence(DIGIT[1]![9]!, digits(first - 1, last - 1)),
    ...(last < longest ? [between(`1${'0'.repeat(longest - 1)}`, String(to))] : []),
  );
}

/** Returns the numbers from one to another one of as many digits. */
function between(from: string, to: string): Grammar {
  const { length } = from;
  if (/^0*$/.test(from) && /^9*$/.test(to)) return digits(length);
  const [first, last] = [Number(from[0]), Number(to[0])];
  const edge = (value: number, least: string, most: string): Grammar => sequence(digit(value), between(least, most));
  if (first === last) return edge(first, from.slice(1), to.slice(1));
  const middle = last - first > 1 ? [sequence(DIGIT[first + 1]![last - 1]!, digits(length - 1))] : [];
  return choice(
    edge(first, from.slice(1), '9'.repeat(length - 1)),
    ...middle,
    edge(last, '0'.repeat(length - 1), to.slice(1)),
  );
}

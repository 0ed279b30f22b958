/** Filters of numbers. */
import { integer, text } from './arguments.js';
import { asNumber } from './compare.js';
import { failure } from './errors.js';
import type { Filters } from './filter.js';
import { toFixed } from './round.js';
import { isSpace, stripEnds } from './characters.js';
import { asText, typeName, Undefined, type Value } from './values.js';

/** The bases that JavaScript reads, with the prefix of each. */
const READABLE: ReadonlyMap<number, string> = new Map([
  [2, '0b'],
  [8, '0o'],
  [10, ''],
  [16, '0x'],
]);

/** Returns the integer that digits are in another base. Halves, because long integers are slow to add to. */
function ofDigits(digits: string, radix: number): bigint {
  if (digits.length <= 8) return BigInt(Number.parseInt(digits, radix));
  const half = digits.length >> 1;
  const rest = digits.length - half;
  return ofDigits(digits.slice(0, half), radix) * BigInt(radix) ** BigInt(rest) + ofDigits(digits.slice(half), radix);
}

/** Returns an integer that is written in a base; undefined for what is none. */
function readInteger(own: string, base: number): bigint | undefined {
  const match = /^([+-]?)(0[xob])?([\da-z]+(?:_[\da-z]+)*)$/i.exec(stripEnds(own, isSpace, 'both'));
  if (!match) return undefined;
  const [, sign, prefix, digits] = match as unknown as [string, string, string | undefined, string];
  const prefixes: Readonly<Record<string, number>> = { '0x': 16, '0o': 8, '0b': 2 };
  const ownBase = prefix === undefined ? undefined : prefixes[prefix.toLowerCase()];
  const radix = base === 0 ? (ownBase ?? 10) : base;
  const all = prefix !== undefined && ownBase !== radix ? prefix + digits : digits;
  const plain = all.replaceAll('_', '').toLowerCase();
  const isDigit = (character: string): boolean => !Number.isNaN(Number.parseInt(character, radix));
  if (![...plain].every(isDigit)) return undefined;
  const value = READABLE.has(radix) ? BigInt(READABLE.get(radix)! + plain) : ofDigits(plain, radix);
  return sign === '-' ? -value : value;
}

/** Returns a float that is written in Python's way; undefined for what is none. */
function readFloat(own: string): number | undefined {
  const trimmed = stripEnds(own, isSpace, 'both').replace(/(?<=\d)_(?=\d)/g, '');
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(trimmed)) return Number(trimmed);
  const special = /^([+-]?)(?:(inf|infinity)|nan)$/i.exec(trimmed);
  if (!special) return undefined;
  return special[2] === undefined ? NaN : special[1] === '-' ? -Infinity : Infinity;
}

function toFloat(value: Value): number | undefined {
  const own = asText(value);
  const number = asNumber(value);
  return own === undefined ? (number === undefined ? undefined : Number(number)) : readFloat(own);
}

function toInteger(value: Value, base: number): bigint | undefined {
  const own = asText(value);
  if (own !== undefined && own.length > 4300)
    throw failure('Exceeds the limit (4300 digits) for integer string conversion');
  const exact = own === undefined ? asNumber(value) : readInteger(own, base);
  if (typeof exact === 'bigint') return exact;
  const float = toFloat(value);
  return float === undefined || !Number.isFinite(float) ? undefined : BigInt(Math.trunc(float));
}

/** Rounds half to even, by the exact value, as Python does. */
function round(value: number, digits: number): number {
  if (!Number.isFinite(value)) return value;
  if (digits > 0) return digits > 100 ? value : Number(toFixed(value, digits));
  const scale = 10 ** -digits;
  const scaled = value / scale;
  const floor = Math.floor(scaled);
  const rest = scaled - floor;
  return (rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1) * scale;
}

export const NUMBER_FILTERS: Filters = {
  abs: [
    [],
    (value) => {
      if (value instanceof Undefined) throw value.error;
      const number = asNumber(value);
      if (number === undefined) throw failure(`bad operand type for abs(): '${typeName(value)}'`);
      return number < 0 ? -number : number;
    },
  ],
  float: [
    ['default'],
    (value, _tools, byDefault = 0) => {
      if (value instanceof Undefined) throw value.error;
      return toFloat(value) ?? byDefault;
    },
  ],
  int: [
    ['default', 'base'],
    (value, _tools, byDefault = 0n, base) => {
      if (value instanceof Undefined) throw value.error;
      return toInteger(value, integer(base, 10)) ?? byDefault;
    },
  ],
  round: [
    ['precision', 'method'],
    (value, _tools, precision, how) => {
      if (value instanceof Undefined) throw value.error;
      const [digits, method, number] = [integer(precision, 0), text(how, 'common'), asNumber(value)];
      if (number === undefined) throw failure(`type ${typeName(value)} doesn't define __round__ method`);
      if (method === 'common')
        return typeof number === 'bigint'
          ? digits < 0
            ? BigInt(round(Number(number), digits))
            : number
          : round(number, digits);
      if (method !== 'ceil' && method !== 'floor') throw failure('method must be common, ceil or floor');
      return Math[method](Number(number) * 10 ** digits) / 10 ** digits;
    },
  ],
};

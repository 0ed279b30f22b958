/** Python's operators on numbers, texts and lists. */
import type { Budget } from './budget.js';
import { asNumber, lengthOf } from './compare.js';
import { failure, unsupported } from './errors.js';
import { formatPercent } from './format.js';
import { escaped } from './print.js';
import { asText, Markup, Tuple, typeName, Undefined, type Value } from './values.js';

/** @throws `runtime` for what the operator does not take */
export function calculate(operator: string, a: Value, b: Value, budget: Budget): Value {
  if (operator === '%' && asText(a) !== undefined) return formatPercent(a as string | Markup, b, budget);
  for (const value of [a, b]) if (value instanceof Undefined) throw value.error;
  const [left, right] = [asNumber(a), asNumber(b)];
  if (left !== undefined && right !== undefined) {
    const result =
      typeof left === 'bigint' && typeof right === 'bigint'
        ? ofIntegers(operator, left, right, budget)
        : ofFloats(operator, Number(left), Number(right));
    if (result !== undefined) return result;
  }
  if (operator === '+') {
    const sum = join(a, b, budget);
    if (sum !== undefined) return sum;
  }
  if (operator === '*') {
    const product =
      typeof left === 'bigint'
        ? repeat(b, left, budget)
        : typeof right === 'bigint'
          ? repeat(a, right, budget)
          : undefined;
    if (product !== undefined) return product;
  }
  throw failure(`unsupported operand type(s) for ${operator}: '${typeName(a)}' and '${typeName(b)}'`);
}

function bitsOf(value: bigint): number {
  // Exact enough: a digit is four bits.
  return value < 1n << 64n && value > -(1n << 64n) ? 64 : value.toString(16).length * 4;
}

function ofIntegers(operator: string, a: bigint, b: bigint, budget: Budget): Value | undefined {
  if (b === 0n && ['/', '//', '%'].includes(operator)) throw failure('division by zero');
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      budget.integer(bitsOf(a) + bitsOf(b));
      return a * b;
    case '/':
      return Number(a) / Number(b);
    case '//':
      return a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n);
    case '%':
      return ((a % b) + b) % b;
    case '**':
      if (b < 0n) return power(Number(a), Number(b));
      if (a !== 0n && a !== 1n && a !== -1n) budget.integer(a.toString(2).length * Number(b));
      return a ** b;
    default:
      return undefined;
  }
}

function ofFloats(operator: string, a: number, b: number): number | undefined {
  if (b === 0 && ['/', '//', '%'].includes(operator)) throw failure('float division by zero');
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '//':
      // Not of the rounded quotient: 1 // 0.1 is 9.
      return Math.round((a - remainder(a, b)) / b) || (Object.is(a / b, -0) ? -0 : 0);
    case '%':
      return remainder(a, b);
    case '**':
      return power(a, b);
    default:
      return undefined;
  }
}

function remainder(a: number, b: number): number {
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
}

/** @throws `runtime`; `unsupported` for a result that is complex */
function power(a: number, b: number): number {
  if (a === 0 && b < 0) throw failure('zero cannot be raised to a negative power');
  const result = a ** b;
  if (Number.isNaN(result) && a < 0) throw unsupported('a complex number');
  if (Number.isFinite(a) && Number.isFinite(b) && !Number.isFinite(result))
    throw failure('Numerical result out of range');
  return result;
}

function join(a: Value, b: Value, budget: Budget): Value | undefined {
  const [first, second] = [asText(a), asText(b)];
  if (first !== undefined && second !== undefined) {
    budget.make(first.length + second.length);
    return a instanceof Markup || b instanceof Markup
      ? new Markup(escaped(a, budget) + escaped(b, budget))
      : first + second;
  }
  if (!Array.isArray(a) || !Array.isArray(b) || a instanceof Tuple !== b instanceof Tuple) return undefined;
  budget.make(a.length + b.length);
  return a instanceof Tuple ? Tuple.with([...a, ...b]) : [...a, ...b];
}

function repeat(value: Value, times: bigint, budget: Budget): Value | undefined {
  const text = asText(value);
  if (text === undefined && !Array.isArray(value)) return undefined;
  const count = times < 0n ? 0 : Number(times);
  budget.make((text?.length ?? lengthOf(value)) * count);
  if (text !== undefined) return value instanceof Markup ? new Markup(text.repeat(count)) : text.repeat(count);
  const items = Array.from({ length: count }, () => value as Value[]).flat() as Value[];
  return value instanceof Tuple ? Tuple.with(items) : items;
}

/** Returns `-value` or `+value`. */
export function signed(operator: string, value: Value): Value {
  if (value instanceof Undefined) throw value.error;
  const number = asNumber(value);
  if (number === undefined) throw failure(`bad operand type for unary ${operator}: '${typeName(value)}'`);
  return operator === '-' ? -number : number;
}

/** Truth, length, equality and order of Python's values. */
import type { Budget } from './budget.js';
import { failure } from './errors.js';
import { Dict, Iteration, Namespace, Range, Tuple, typeName, Undefined, View, asText, type Value } from './values.js';

/** The characters that are compared in the time of one step. */
const CHARACTERS_PER_STEP = 1000;

export function isTrue(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value !== 0n;
  if (typeof value === 'number') return value !== 0;
  if (value === null || value instanceof Undefined) return false;
  const text = asText(value);
  return text === undefined ? sizeOf(value) !== 0 : text !== '';
}

/** Returns the length of a text in characters, which are code points. */
export function lengthOfText(text: string): number {
  let length = text.length;
  for (let at = 1; at < text.length; at++) if (isPair(text, at)) length -= 1;
  return length;
}

function isPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}

/** Returns a value's length; undefined for what has none. */
export function sizeOf(value: Value): number | undefined {
  const text = asText(value);
  if (text !== undefined) return lengthOfText(text);
  if (Array.isArray(value) || value instanceof Range) return value.length;
  if (value instanceof Dict) return value.size;
  if (value instanceof View) return value.dict.size;
  return value instanceof Undefined ? 0 : undefined;
}

/** @throws `runtime` for what has no length */
export function lengthOf(value: Value): number {
  const size = sizeOf(value);
  if (size === undefined) throw failure(`object of type '${typeName(value)}' has no len()`);
  return size;
}

/** Returns what a loop over a value gives; undefined for what cannot be looped over. */
export function itemsOf(value: Value): Iterable<Value> | undefined {
  const text = asText(value);
  if (text !== undefined) return text;
  if (Array.isArray(value) || value instanceof Range || value instanceof View || value instanceof Iteration)
    return value;
  if (value instanceof Dict) return value.keys();
  return value instanceof Undefined ? [] : undefined;
}

/** @throws `runtime` for what cannot be looped over */
export function iterate(value: Value): Iterable<Value> {
  const items = itemsOf(value);
  if (items === undefined) throw failure(`'${typeName(value)}' object is not iterable`);
  return items;
}

/** Returns an int, a float or a bool as a number of JavaScript; undefined for what is none. */
export function asNumber(value: Value): bigint | number | undefined {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return typeof value === 'bigint' || typeof value === 'number' ? value : undefined;
}

/** @throws `limit`: lists that have one another twice and more are compared as often as they are reached */
export function isEqual(a: Value, b: Value, budget: Budget): boolean {
  budget.step(1 + (typeof a === 'string' ? a.length / CHARACTERS_PER_STEP : 0));
  if (a === b) return true;
  const [first, second] = [asNumber(a), asNumber(b)];
  // Loosely: 1n == 1.
  if (first !== undefined && second !== undefined) return first == second;
  if (asText(a) !== undefined) return asText(a) === asText(b);
  if (Array.isArray(a) && Array.isArray(b))
    return (
      a instanceof Tuple === b instanceof Tuple &&
      a.length === b.length &&
      a.every((item, at) => isEqual(item, b[at]!, budget))
    );
  if (a instanceof Dict && b instanceof Dict)
    return (
      a.size === b.size && [...a.entries()].every(([key, value]) => b.has(key) && isEqual(value, b.get(key)!, budget))
    );
  if (a instanceof Range && b instanceof Range) return isEqual([...a], [...b], budget);
  return a instanceof Undefined && b instanceof Undefined;
}

/**
 * Compares two values: negative if the first is less.
 * @throws `runtime` for values that have no order; `limit`
 */
export function compare(a: Value, b: Value, budget: Budget, sign = '<'): number {
  budget.step(1 + (typeof a === 'string' ? a.length / CHARACTERS_PER_STEP : 0));
  const [first, second] = [asNumber(a), asNumber(b)];
  if (first !== undefined && second !== undefined)
    return first < second ? -1 : first > second ? 1 : first == second ? 0 : NaN;
  const [left, right] = [asText(a), asText(b)];
  if (left !== undefined && right !== undefined) return compareTexts(left, right);
  if (Array.isArray(a) && Array.isArray(b) && a instanceof Tuple === b instanceof Tuple) {
    const at = a.findIndex((item, index) => index >= b.length || !isEqual(item, b[index]!, budget));
    return at < 0 ? a.length - b.length : at >= b.length ? 1 : compare(a[at]!, b[at]!, budget, sign);
  }
  for (const value of [a, b]) if (value instanceof Undefined) throw value.error;
  throw failure(`'${sign}' not supported between instances of '${typeName(a)}' and '${typeName(b)}'`);
}

/** Compares texts by their code points. */
function compareTexts(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  for (let at = 0; at < most; at++)
    if (a.charCodeAt(at) !== b.charCodeAt(at))
      return a.codePointAt(at)! - b.codePointAt(at)! || a.charCodeAt(at) - b.charCodeAt(at);
  return a.length - b.length;
}

/** Returns whether `item in value`. */
export function contains(value: Value, item: Value, budget: Budget): boolean {
  const text = asText(value);
  if (text !== undefined) {
    const part = asText(item);
    if (part === undefined) throw failure(`'in <string>' requires string as left operand, not ${typeName(item)}`);
    budget.step(text.length / CHARACTERS_PER_STEP);
    return text.includes(part);
  }
  if (value instanceof Dict) return value.has(item);
  if (value instanceof Namespace || value === null)
    throw failure(`argument of type '${typeName(value)}' is not iterable`);
  for (const one of iterate(value)) if (isEqual(one, item, budget)) return true;
  return false;
}

/** Returns whether two values are the same object. Small integers and short texts are, in Python. */
export function isSame(a: Value, b: Value): boolean {
  return a === b;
}

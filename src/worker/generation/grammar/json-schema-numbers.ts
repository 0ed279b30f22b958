/** The numbers that fit a JSON Schema. */
import { describeValue } from '../../../contract/describe-value.js';
import { invalidInput } from '../../../contract/errors.js';
import type { Grammar } from './grammar.js';
import { INTEGER, MAX_DIGITS, NUMBER } from './json.js';
import { integersWithin, numbersWithin } from './numbers.js';

/** The keywords that limit a number. */
export const OF_NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;

/**
 * Returns the grammar of the numbers within a schema's bounds.
 * @throws `invalid-input` for bounds that are not supported, or that no number fits
 */
export function numberGrammar(
  type: 'number' | 'integer',
  schema: Readonly<Record<string, unknown>>,
  path: string,
): Grammar {
  const bound = (key: (typeof OF_NUMBERS)[number], none: number): number => {
    const value = schema[key] ?? none;
    if (typeof value !== 'number' || Number.isNaN(value))
      throw invalidInput(`${path}.${key}: expected a number, got ${describeValue(value)}.`);
    if (type === 'number' && Number.isFinite(value) && !Number.isInteger(value))
      throw invalidInput(`${path}.${key}: for a number, only whole bounds are supported, got ${value}.`);
    return value;
  };
  const [min, above] = [bound('minimum', -Infinity), bound('exclusiveMinimum', -Infinity)];
  const [max, below] = [bound('maximum', Infinity), bound('exclusiveMaximum', Infinity)];
  if (Math.max(min, above) === -Infinity && Math.min(max, below) === Infinity)
    return type === 'integer' ? INTEGER : NUMBER;
  const bounds = {
    // A whole number is within broken bounds if it is within the next whole ones.
    min: above >= min ? Math.floor(above) : Math.ceil(min),
    max: below <= max ? Math.ceil(below) : Math.floor(max),
    isMinExclusive: above >= min,
    isMaxExclusive: below <= max,
  };
  const found = type === 'integer' ? integersWithin(bounds) : numbersWithin(bounds);
  if (found) return found;
  throw invalidInput(`${path}: no ${type} of at most ${MAX_DIGITS} digits is within its bounds.`);
}

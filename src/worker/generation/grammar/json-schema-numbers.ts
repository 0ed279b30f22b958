/** What JSON Schema says of numbers. */
import { describeValue } from '../../../contract/describe-value.js';
import { invalidInput } from '../../../contract/errors.js';
import type { Grammar } from './grammar.js';
import { INTEGER, MAX_DIGITS, NUMBER } from './json.js';
import { multiplesOf } from './multiples.js';
import { integersWithin, numbersWithin, type Bounds } from './numbers.js';
import { both, type Budget } from './regular.js';

/** The keywords that limit a number. */
export const OF_NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;

/**
 * Returns the grammar of the numbers within a schema's bounds.
 * @throws `invalid-input` for bounds that are no numbers or not supported, or that no number is within
 */
export function numberGrammar(
  type: 'integer' | 'number',
  schema: Readonly<Record<string, unknown>>,
  path: string,
  budget: Budget,
): Grammar {
  const bounds = boundsOf(schema, path);
  const isInteger = type === 'integer';
  const isBounded = bounds.min > -Infinity || bounds.max < Infinity;
  const any = isInteger ? INTEGER : NUMBER;
  const within = isBounded ? (isInteger ? integersWithin : numbersWithin)(bounds) : any;
  const { multipleOf: step } = schema;
  const found = step === undefined ? within : within && both(within, multiples(step, path), budget);
  if (found) return found;
  const what = step === undefined ? type : `multiple of ${step as number}`;
  throw invalidInput(`${path}: no ${what} of at most ${MAX_DIGITS} digits is within its bounds.`);
}

function boundsOf(schema: Readonly<Record<string, unknown>>, path: string): Bounds {
  const bound = (key: (typeof OF_NUMBERS)[number], none: number): number => {
    const value = schema[key] ?? none;
    if (typeof value === 'number' && !Number.isNaN(value)) return value;
    throw invalidInput(`${path}.${key}: expected a number, got ${describeValue(value)}.`);
  };
  const [min, above] = [bound('minimum', -Infinity), bound('exclusiveMinimum', -Infinity)];
  const [max, below] = [bound('maximum', Infinity), bound('exclusiveMaximum', Infinity)];
  return {
    min: Math.max(min, above),
    max: Math.min(max, below),
    isMinExclusive: above >= min,
    isMaxExclusive: below <= max,
  };
}

function multiples(step: unknown, path: string): Grammar {
  if (typeof step !== 'number' || !(step > 0 && step < Infinity))
    throw invalidInput(`${path}.multipleOf: expected a number above 0, got ${describeValue(step)}.`);
  const grammar = multiplesOf(step);
  if (grammar) return grammar;
  throw invalidInput(`${path}.multipleOf: ${step} has too many digits. Use a number such as 5, 250 or 0.01.`);
}

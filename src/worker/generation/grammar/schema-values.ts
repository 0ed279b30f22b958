/** What is read of the keywords of JSON Schemas. */
import { describeValue } from '../../../contract/describe-value.js';
import { invalidInput } from '../../../contract/errors.js';
import type { Schema } from './schema-dialects.js';

/** Returns the least and the most of something that is counted. */
export function countsOf(
  schema: Schema,
  least: string,
  most: string,
  path: string,
): readonly [min: number, max: number] {
  const [min, max] = [schema[least] ?? 0, schema[most] ?? Infinity] as [number, number];
  for (const [key, value] of [
    [least, min],
    [most, max],
  ] as const)
    if (schema[key] !== undefined && !(Number.isInteger(value) && value >= 0))
      throw invalidInput(`${path}.${key}: expected a whole number from 0 on, got ${describeValue(value)}.`);
  if (min > max) throw invalidInput(`${path}: ${least} is ${min}, and ${most} is ${max}.`);
  return [min, max];
}

/** @throws `invalid-input` if it is no list, or an empty one */
export function listOf(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value) && value.length > 0) return value;
  throw invalidInput(`${path}: expected a list with at least one, got ${describeValue(value)}.`);
}

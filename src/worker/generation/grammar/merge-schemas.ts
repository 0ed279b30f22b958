/** The schema of the values that fit two schemas. */
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { isSame } from './is-same.js';
import type { Schema } from './schema-dialects.js';

const LARGEST: ReadonlySet<string> = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']);
const SMALLEST: ReadonlySet<string> = new Set([
  'maximum',
  'exclusiveMaximum',
  'maxLength',
  'maxItems',
  'maxProperties',
]);
/** Schemas: a value fits both. */
const BOTH: ReadonlySet<string> = new Set(['items', 'propertyNames', 'additionalProperties']);

/**
 * Returns the schema of the values that fit both, false if there are none.
 * @param conflict makes the error for a keyword of which two cannot be merged
 */
export function mergeSchemas(
  first: Schema | false,
  second: Schema | false,
  conflict: (key: string) => Error,
): Schema | false {
  if (!first || !second) return false;
  checkPlaces(first, second, conflict);
  checkPlaces(second, first, conflict);
  const merged: Record<string, unknown> = { ...first };
  for (const [key, value] of Object.entries(second))
    merged[key] = Object.hasOwn(first, key) ? both(key, first[key], value, conflict) : value;
  if (merged['properties'] !== undefined) merged['properties'] = properties(first, second);
  return [merged['type'], merged['enum']].some((list) => Array.isArray(list) && list.length === 0) ? false : merged;
}

/** @throws for a keyword about the remaining items or properties, if the other schema says more about some of them */
function checkPlaces(one: Schema, other: Schema, conflict: (key: string) => Error): void {
  if (one['prefixItems'] !== undefined && other['items'] !== undefined) throw conflict('prefixItems');
  if (one['patternProperties'] !== undefined && other['additionalProperties'] !== undefined)
    throw conflict('patternProperties');
}

function common(one: readonly unknown[], other: readonly unknown[]): readonly unknown[] {
  return one.filter((value) => other.some((its) => isSame(value, its)));
}

function both(key: string, own: unknown, value: unknown, conflict: (key: string) => Error): unknown {
  if (own === value) return own;
  if (LARGEST.has(key) && typeof own === 'number' && typeof value === 'number') return Math.max(own, value);
  if (SMALLEST.has(key) && typeof own === 'number' && typeof value === 'number') return Math.min(own, value);
  if (BOTH.has(key)) return own === false || value === false ? false : { allOf: [own, value] };
  if (key === 'uniqueItems') return own === true || value === true;
  if (key === 'properties' && isPlainObject(own) && isPlainObject(value)) return own;
  if (key === 'type') return commonTypes([own].flat(), [value].flat());
  if (Array.isArray(own) && Array.isArray(value)) {
    if (key === 'enum') return common(own, value);
    if (key === 'required' || key === 'patterns') return [...new Set<unknown>([...own, ...value])];
  }
  if (isSame(own, value)) return own;
  throw conflict(key);
}

function commonTypes(one: readonly unknown[], other: readonly unknown[]): readonly unknown[] {
  const within = (type: unknown, types: readonly unknown[]): boolean =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  return [...new Set([...one.filter((type) => within(type, other)), ...other.filter((type) => within(type, one))])];
}

/** Merges properties: each has to fit what either schema says of it, or of the properties that it does not name. */
function properties(one: Schema, other: Schema): Schema {
  const of = ({ properties: own }: Schema): Schema => (isPlainObject(own) ? own : {});
  const said = (schema: Schema, name: string): unknown =>
    Object.hasOwn(of(schema), name) ? of(schema)[name] : schema['additionalProperties'];
  const names = new Set([...Object.keys(of(one)), ...Object.keys(of(other))]);
  return Object.fromEntries(
    Array.from(names, (name) => {
      const all = [said(one, name), said(other, name)].filter((schema) => schema !== undefined);
      return [name, all.includes(false) ? false : all.length === 1 ? all[0] : { allOf: all }] as const;
    }),
  );
}

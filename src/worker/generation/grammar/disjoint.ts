/** Whether schemas exclude each other, as the alternatives of `oneOf` must here. */
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { isSame } from './is-same.js';
import type { Schema } from './schema-dialects.js';

/** Returns a schema in one dialect, with what its references name. */
export type Flatten = (schema: unknown) => Schema | false;

/** Properties in properties are compared to this depth. */
const MAX_DEPTH = 3;

/** With these keywords alone, an object has no properties but those that they name. */
const CLOSED: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'maxProperties',
]);

/**
 * Returns whether no value that the grammar writes for a schema fits another one: by their types, by their values, by a
 * property that both require, or by one that only the other requires.
 */
export function excludes(written: Schema | false, other: Schema | false, flatten: Flatten, depth = 0): boolean {
  if (!written || !other) return true;
  const [types, others] = [typesOf(written), typesOf(other)];
  if (types && others && !types.some((type) => others.some((its) => overlap(type, its)))) return true;
  const [values, theirs] = [valuesOf(written), valuesOf(other)];
  if (values && theirs) return !values.some((value) => theirs.some((its) => isSame(value, its)));
  if (depth === MAX_DEPTH || !types?.every((type) => type === 'object')) return false;
  const [own, its] = [propertiesOf(written), propertiesOf(other)];
  const required = namesOf(written);
  const names = new Set([...Object.keys(own), ...required]);
  const isClosed =
    names.size > 0 && Object.keys(written).every((key) => CLOSED.has(key)) && !written['additionalProperties'];
  return namesOf(other).some((name) => {
    if (!names.has(name)) return isClosed;
    if (!required.includes(name) || !Object.hasOwn(own, name) || !Object.hasOwn(its, name)) return false;
    return excludes(flatten(own[name]), flatten(its[name]), flatten, depth + 1);
  });
}

function propertiesOf({ properties }: Schema): Schema {
  return isPlainObject(properties) ? properties : {};
}

function namesOf({ required }: Schema): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

function overlap(one: string, other: string): boolean {
  return one === other || [one, other].every((type) => type === 'integer' || type === 'number');
}

function typesOf(schema: Schema): readonly string[] | undefined {
  const { type } = schema;
  if (type !== undefined) return [type].flat().map(String);
  return valuesOf(schema)?.map((value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value));
}

function valuesOf({ enum: values }: Schema): readonly unknown[] | undefined {
  return Array.isArray(values) ? values : undefined;
}

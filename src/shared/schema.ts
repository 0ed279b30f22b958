import { Validator, type Schema } from './json-schema.js';
import { describeValue, isJson, shorten } from '../contract/describe-value.js';
import { TabServeError } from '../contract/errors.js';
import { MAX_VALUES } from '../contract/limits.js';
import { nearestName } from './nearest-name.js';

export type { Schema };

/** JSON Schemas by key, for one section of a config. A schema has no `$ref`. */
export type ConfigSchema = Readonly<Record<string, Schema>>;

type Warn = (message: string, meant: string | undefined) => void;

/** A key that is not in its schema. */
interface UnknownKey {
  readonly schema: ConfigSchema;
  readonly key: string;
  readonly where: string;
}

/** The code of the error for a wrong value: of a config, or of a request. */
type WrongValueCode = 'model-config' | 'invalid-input';

/** How a check reports what it finds. */
interface Found {
  readonly code: WrongValueCode;
  readonly unknown: UnknownKey[];
}

/** A value, and where it is. */
interface Located {
  readonly path: string;
  readonly value: unknown;
}

/** How many levels are searched for a value that is not JSON. */
const MAX_LEVELS = 32;
/** The maximum number of unknown keys that warnings name. The others are only counted. */
const MAX_WARNINGS = 50;
/** The maximum number of keys that one warning names. */
const MAX_NAMES = 10;

/**
 * Checks the values of one section. A key that is not in the schema only causes a warning that names the nearest known
 * key; keys that resemble none have one warning together.
 * @param where the section, e.g. `handler`; '' for the top of the config
 * @param warn called with the message, and the known key that was probably meant
 * @param code of the error; `invalid-input` for what a request says
 * @throws `code` naming the key by its full path, the allowed values and the given one
 */
export function checkSection(
  schema: ConfigSchema,
  values: Readonly<Record<string, unknown>>,
  where: string,
  warn: Warn,
  code: WrongValueCode = 'model-config',
): void {
  const unknown: UnknownKey[] = [];
  checkKeys(schema, values, where, { code, unknown });
  // Search the nearest name only for unknown keys: the search is slow.
  const foreign: string[] = [];
  for (const { schema: section, key, where: path } of unknown.slice(0, MAX_WARNINGS)) {
    const meant = nearestName(key, Object.keys(section));
    if (meant === undefined) foreign.push(joined(path, key));
    else warn(`${joined(path, key)} is not a known key${probably(meant)}.`, meant);
  }
  const more = foreign.length - MAX_NAMES;
  const names = `${foreign.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  if (foreign.length > 0)
    warn(`${names} ${foreign.length === 1 ? 'is not a known key' : 'are not known keys'}.`, undefined);
  if (unknown.length > MAX_WARNINGS)
    warn(`${unknown.length - MAX_WARNINGS} more keys${where && ` of ${where}`} are not known.`, undefined);
}

function checkKeys(schema: ConfigSchema, values: Readonly<Record<string, unknown>>, where: string, found: Found): void {
  for (const [key, value] of Object.entries(values)) {
    if (!Object.hasOwn(schema, key)) found.unknown.push({ schema, key, where });
    else if (value !== undefined) {
      const path = joined(where, key);
      if (countValues(value, MAX_VALUES) > MAX_VALUES)
        throw new TabServeError(found.code, `${path} has more than ${MAX_VALUES} values, which is the limit.`);
      const fault = findFault(schema[key]!, value, path);
      if (fault) throw new TabServeError(found.code, fault);
      findUnknownKeys(schema[key]!, value, path, found);
    }
  }
}

/**
 * Returns how many values there are in a value, at any depth. Stops counting above `most`, because a list may contain
 * itself.
 */
export function countValues(value: unknown, most: number): number {
  const lists: unknown[] = [value];
  let count = 1;
  for (let list = lists.pop(); list !== undefined && count <= most; list = lists.pop()) {
    const inner = typeof list === 'object' && list !== null ? Object.values(list) : [];
    count += inner.length;
    if (count <= most) lists.push(...inner.filter((one) => typeof one === 'object' && one !== null));
  }
  return count;
}

/** Finds the unknown keys inside a valid value. */
function findUnknownKeys(schema: Schema, value: unknown, path: string, found: Found): void {
  const { properties, additionalProperties, items, anyOf, oneOf } = schema;
  const alternative = (anyOf ?? oneOf)?.find((one) => isValid(one, value));
  if (alternative) findUnknownKeys(alternative, value, path, found);
  else if (Array.isArray(value) && isRecord(items))
    value.forEach((item, index) => findUnknownKeys(items, item, `${path}[${index}]`, found));
  else if (isRecord(value) && properties && !additionalProperties)
    checkKeys(properties as ConfigSchema, value, path, found);
}

function joined(where: string, key: string): string {
  return where ? `${where}.${shorten(key)}` : shorten(key);
}

/** The validators by schema. They are reused, because every request's params are checked. */
const validators = new WeakMap<Schema, Validator>();

function isValid(schema: Schema, value: unknown): boolean {
  const validator = validators.get(schema) ?? new Validator(schema);
  validators.set(schema, validator);
  return validator.validate(value).valid;
}

/** Returns what is wrong with `value`, at the innermost wrong place; undefined if it is valid. */
function findFault(schema: Schema, value: unknown, path: string): string | undefined {
  if (isJson(value) && isValid(schema, value)) return undefined;
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) {
    const ofType = alternatives.filter((one) => isOfType(one, value));
    const [alternative, ...others] = ofType.length === 1 ? ofType : ofType.filter((one) => resembles(one, value));
    if (alternative && others.length === 0) return findFault(alternative, value, path);
  } else if (Array.isArray(value) && isRecord(schema.items)) {
    for (const [index, item] of value.entries()) {
      const fault = findFault(schema.items, item, `${path}[${index}]`);
      if (fault) return fault;
    }
  } else if (isRecord(value)) {
    const fault = findFaultOfKeys(schema, value, path);
    if (fault) return fault;
  }
  const wrong = findNotJson(value, path);
  if (wrong && wrong.path !== path)
    return `${wrong.path} must be a value that JSON has, such as a finite number, not ${describeValue(wrong.value)}.`;
  return `${path} must be ${expected(schema)}, not ${describeValue(value)}${probably(nearestOf(schema, value))}.`;
}

/** Finds a value inside of another one that is not JSON, such as NaN. */
function findNotJson(value: unknown, path: string, levels = MAX_LEVELS): Located | undefined {
  if (typeof value !== 'object' || value === null) return isJson(value) ? undefined : { path, value };
  if (levels === 0) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = findNotJson(inner, Array.isArray(value) ? `${path}[${key}]` : joined(path, key), levels - 1);
    if (found) return found;
  }
  return undefined;
}

/** Returns which of the texts that a schema allows was probably meant. */
function nearestOf({ enum: values = [] }: Schema, value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  return nearestName(
    value,
    (values as readonly unknown[]).filter((one) => typeof one === 'string'),
  );
}

function findFaultOfKeys(
  { properties = {}, additionalProperties, required = [] }: Schema,
  value: Readonly<Record<string, unknown>>,
  path: string,
): string | undefined {
  const names = Object.keys(properties);
  for (const [key, inner] of Object.entries(value)) {
    const schema = names.includes(key) ? properties[key] : additionalProperties;
    if (schema === false)
      return `${joined(path, key)} is not a known key${probably(nearestName(key, names)) || `; there are ${names.join(', ')}`}.`;
    const fault = isRecord(schema) && findFault(schema, inner, joined(path, key));
    if (fault) return fault;
  }
  const missing = required.find((key) => !Object.hasOwn(value, key));
  return missing === undefined
    ? undefined
    : `${path}.${missing} is missing: ${expected(properties[missing] as Schema)}.`;
}

function isOfType(schema: Schema, value: unknown): boolean {
  const type = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
  const types = new Set<string>([schema.type ?? typeof (schema.const ?? schema.enum?.[0])].flat());
  return types.has(type) || (type === 'number' && types.has('integer'));
}

/**
 * Returns whether a mapping was probably meant for this alternative: it has the alternative's constants or, if there
 * are no constants, one of its keys.
 */
function resembles({ properties = {} }: Schema, value: unknown): boolean {
  if (!isRecord(value)) return true;
  const constants = Object.entries(properties).filter(([, property]) => isRecord(property) && 'const' in property);
  if (constants.length > 0) return constants.every(([key, property]) => value[key] === (property as Schema).const);
  return Object.keys(properties).some((key) => Object.hasOwn(value, key));
}

/** Returns what a schema allows, in words. */
export function expected(schema: Schema): string {
  const { const: constant, enum: values, anyOf, oneOf, type } = schema;
  if (constant !== undefined) return describeValue(constant);
  if (values)
    return values.length > 2
      ? `one of ${values.map(describeValue).join(', ')}`
      : values.map(describeValue).join(' or ');
  const alternatives = anyOf ?? oneOf;
  if (alternatives) return [...new Set(alternatives.map(expected))].join(', or ');
  return (
    [type ?? []]
      .flat()
      .map((one) => WORDS[one](schema))
      .join(' or ') || 'another value'
  );
}

const WORDS: Readonly<Record<NonNullable<Schema['type']> & string, (schema: Schema) => string>> = {
  integer: (schema) => `an integer${range(schema)}`,
  number: (schema) => `a number${range(schema)}`,
  boolean: () => 'true or false',
  string: ({ minLength }) => (minLength ? 'a string that is not empty' : 'a string'),
  null: () => 'empty',
  array: ({ items, minItems, maxItems }) => {
    const bounds = [minItems ? `at least ${minItems}` : [], maxItems === undefined ? [] : `at most ${maxItems}`].flat();
    const exact = minItems !== undefined && minItems === maxItems;
    const count = exact ? ` of ${minItems}` : bounds.length > 0 ? ` of ${bounds.join(' and ')}` : '';
    return `a list${count}${isRecord(items) ? `, each ${expected(items)}` : ''}`;
  },
  object: ({ properties, maxProperties, additionalProperties }) => {
    if (!properties)
      return isRecord(additionalProperties)
        ? `a mapping, each value ${expected(additionalProperties)}`
        : 'a mapping of keys to values';
    const names = Object.keys(properties).join(', ');
    return maxProperties === 1 ? `a mapping with one of the keys ${names}` : `a mapping with the keys ${names}`;
  },
};

function range({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema): string {
  if (minimum !== undefined && maximum !== undefined) return ` in ${minimum}..${maximum}`;
  const limits = [
    [minimum, '≥'],
    [exclusiveMinimum, '>'],
    [maximum, '≤'],
    [exclusiveMaximum, '<'],
  ] as const;
  const texts = limits.flatMap(([limit, sign]) => (limit === undefined ? [] : [`${sign} ${limit}`]));
  return texts.length > 0 ? ` ${texts.join(' and ')}` : '';
}

/** Returns whether a value is a mapping of keys to values. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function probably(meant: string | undefined): string {
  return meant === undefined ? '' : `; probably ${meant} is meant`;
}

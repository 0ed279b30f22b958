import { Validator, type Schema } from '@cfworker/json-schema';
import { TabServeError } from '../contract/errors.js';

export type { Schema };

/** JSON Schemas by key, for one section of a config. Each stands alone: no `$ref`. */
export type ConfigSchema = Readonly<Record<string, Schema>>;

/**
 * Checks the values of one section. A key that the schema does not know is passed on, with a warning that says which it was probably meant to be.
 * @param where what the keys belong to, e.g. `handler`; '' for the top of the config
 * @param warn gets the message, and the known key that was probably meant
 * @throws `model-config` naming the key by its full path, what it may be and what it is
 */
export function checkSection(
  schema: ConfigSchema,
  values: Readonly<Record<string, unknown>>,
  where: string,
  warn: (message: string, meant: string | undefined) => void,
): void {
  for (const [key, value] of Object.entries(values)) {
    const path = where ? `${where}.${key}` : key;
    const meant = nearest(key, Object.keys(schema));
    if (!Object.hasOwn(schema, key)) warn(`${path} is not a known key${probably(meant)}.`, meant);
    else if (value !== undefined) {
      const fault = findFault(schema[key]!, value, path);
      if (fault) throw new TabServeError('model-config', fault);
      checkInside(schema[key]!, value, path, warn);
    }
  }
}

type Warn = (message: string, meant: string | undefined) => void;

/** The unknown keys within a value that fits. */
function checkInside(schema: Schema, value: unknown, path: string, warn: Warn): void {
  const { properties, additionalProperties, items, anyOf, oneOf } = schema;
  const alternative = (anyOf ?? oneOf)?.find((one) => new Validator(one).validate(value).valid);
  if (alternative) checkInside(alternative, value, path, warn);
  else if (Array.isArray(value) && isRecord(items))
    value.forEach((item, index) => checkInside(items, item, `${path}[${index}]`, warn));
  else if (isRecord(value) && properties && !additionalProperties)
    checkSection(properties as ConfigSchema, value, path, warn);
}

/** What is wrong with `value`, told of the innermost place that is; undefined where nothing is. */
function findFault(schema: Schema, value: unknown, path: string): string | undefined {
  if (isJson(value) && new Validator(schema).validate(value).valid) return undefined;
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
  return `${path} must be ${expected(schema)}, not ${shown(value)}.`;
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
      return `${path}.${key} is not a known key${probably(nearest(key, names)) || `; there are ${names.join(', ')}`}.`;
    const fault = isRecord(schema) && findFault(schema, inner, `${path}.${key}`);
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

/** Whether a mapping was probably meant for this alternative: it has its constants or, where there are none, one of its keys. */
function resembles({ properties = {} }: Schema, value: unknown): boolean {
  if (!isRecord(value)) return true;
  const constants = Object.entries(properties).filter(([, property]) => isRecord(property) && 'const' in property);
  if (constants.length > 0) return constants.every(([key, property]) => value[key] === (property as Schema).const);
  return Object.keys(properties).some((key) => Object.hasOwn(value, key));
}

/** What a schema allows, in words. */
export function expected(schema: Schema): string {
  const { const: constant, enum: values, anyOf, oneOf, type } = schema;
  if (constant !== undefined) return shown(constant);
  if (values) return values.length > 2 ? `one of ${values.map(shown).join(', ')}` : values.map(shown).join(' or ');
  const alternatives = anyOf ?? oneOf;
  if (alternatives) return [...new Set(alternatives.map(expected))].join(', or ');
  return [type ?? []].flat().map((one) => WORDS[one](schema)).join(' or ') || 'another value'; // prettier-ignore
}

const WORDS: Readonly<Record<NonNullable<Schema['type']> & string, (schema: Schema) => string>> = {
  integer: (schema) => `an integer${range(schema)}`,
  number: (schema) => `a number${range(schema)}`,
  boolean: () => 'true or false',
  string: ({ minLength }) => (minLength ? 'a string that is not empty' : 'a string'),
  null: () => 'empty',
  array: ({ items, minItems, maxItems }) => {
    const count =
      minItems !== undefined && minItems === maxItems ? ` of ${minItems}` : minItems ? ` of at least ${minItems}` : '';
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
  const limits = [[minimum, '≥'], [exclusiveMinimum, '>'], [maximum, '≤'], [exclusiveMaximum, '<']] as const; // prettier-ignore
  const told = limits.flatMap(([limit, sign]) => (limit === undefined ? [] : [`${sign} ${limit}`]));
  return told.length > 0 ? ` ${told.join(' and ')}` : '';
}

/** A value as the config has it, shortened. */
function shown(value: unknown): string {
  const text = (isJson(value) ? JSON.stringify(value) : undefined) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

/** NaN and infinity can be written in YAML, and any value can stand in an option; what is not JSON fits no schema. */
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isJson);
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

/** Whether a value is a mapping of keys to values. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function probably(meant: string | undefined): string {
  return meant === undefined ? '' : `; probably ${meant} is meant`;
}

/** The name that `name` was probably meant to be: one that differs in its case, or in up to a third of its letters. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const edits = names.map((known) => [distance(name.toLowerCase(), known.toLowerCase()), known] as const);
  const [best] = edits
    .filter(([count, known]) => count <= Math.max(name.length, known.length) / 3)
    .sort(([a], [b]) => a - b);
  return best?.[1];
}

/** Letters to insert, delete, replace, or swap with their neighbor (optimal string alignment). */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= a.length; i++) {
    const [above, before, row] = [rows[i - 1]!, rows[i - 2], [i]];
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + Number(a[i - 1] !== b[j - 1]));
      if (before && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

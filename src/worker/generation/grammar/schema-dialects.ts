/** JSON Schemas of older drafts, of OpenAPI and of code generators, in the words of JSON Schema 2020-12. */
import { describeValue, shorten } from '../../../contract/describe-value.js';
import { invalidInput } from '../../../contract/errors.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { FORMATS } from './formats.js';
import { isSame } from './is-same.js';

/**
 * What a schema says of values. In place of `pattern`, `format` and `contentEncoding`, it has `patterns`, all of which a
 * text fits, and an `enum` in place of `const`.
 */
export type Schema = Readonly<Record<string, unknown>>;

/** Keywords that change no answer. */
const NOTES: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  'id',
  '$anchor',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'example',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'contentMediaType',
  // OpenAPI says by it which property tells the alternatives of a oneOf apart.
  'discriminator',
  // OpenAPI allows null with it, JSON Schema does not: so null is not written.
  'nullable',
]);
/** Those that say what a value is, and those that limit the values of a type. */
const KNOWN: ReadonlySet<string> = new Set(
  [
    ['$ref', 'const', 'enum', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', 'type'],
    ['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'],
    ['minProperties', 'maxProperties'],
    ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems', 'uniqueItems'],
    ['minLength', 'maxLength', 'pattern', 'format', 'contentEncoding'],
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ].flat(),
);

const INT32 = 2 ** 31;
/** Formats of numbers, by their bounds. */
const OF_NUMBERS: Readonly<Record<string, Schema>> = {
  int32: { minimum: -INT32, maximum: INT32 - 1 },
  int64: {},
  float: {},
  double: {},
};

/**
 * Returns what a schema says of values, in the words of one dialect.
 * @returns false for a schema that no value fits
 * @throws `invalid-input` for what is no schema, and for a keyword that is not supported
 */
export function inDialect(value: unknown, path: string): Schema | false {
  if (value === true) return {};
  if (value === false) return false;
  if (!isPlainObject(value)) throw invalidInput(`${path}: expected a JSON Schema, got ${describeValue(value)}.`);
  const all = Object.entries(value).filter(([key, its]) => its !== undefined && !NOTES.has(key));
  const unknown = all.find(([key]) => !KNOWN.has(key))?.[0];
  if (unknown !== undefined)
    throw invalidInput(
      `${path}.${shorten(unknown)}: this keyword is not supported. The supported ones are in docs/generate.md.`,
    );
  const { items, additionalItems, pattern, format, contentEncoding, ...schema } = Object.fromEntries(all);
  if (Object.hasOwn(schema, 'const')) {
    const { const: only, enum: values } = schema;
    schema['enum'] = Array.isArray(values) ? values.filter((one) => isSame(one, only)) : [only];
    delete schema['const'];
  }
  if (schema['not'] !== undefined && isAny(schema['not'])) return false;
  // Draft 7 has a list of schemas here, and beside it that of the items after them.
  if (Array.isArray(items)) schema['prefixItems'] = items;
  const others = Array.isArray(items) ? additionalItems : items;
  if (others !== undefined) schema['items'] = others;
  // Draft 4 has `true` here if the bound itself is left out.
  for (const [bound, key] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (typeof schema[key] !== 'boolean') continue;
    if (schema[key]) schema[key] = schema[bound];
    if (schema[key] === schema[bound]) delete schema[bound];
    else delete schema[key];
  }
  const isNumber = schema['type'] === 'number' || schema['type'] === 'integer';
  if (isNumber && typeof format === 'string' && Object.hasOwn(OF_NUMBERS, format))
    return { ...OF_NUMBERS[format], ...schema };
  const patterns = patternsOf({ pattern, format, contentEncoding }, path);
  return patterns.length === 0 ? schema : { ...schema, patterns };
}

function patternsOf({ pattern, format, contentEncoding }: Schema, path: string): readonly string[] {
  if (pattern !== undefined && typeof pattern !== 'string')
    throw invalidInput(`${path}.pattern: expected a regular expression, got ${describeValue(pattern)}.`);
  const patterns = pattern === undefined ? [] : [pattern];
  for (const [key, name] of Object.entries({ format, contentEncoding })) {
    if (name === undefined) continue;
    const known = typeof name === 'string' && Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
    // Zod names kinds of patterns here that are no formats of JSON Schema, such as "starts_with".
    if (known === undefined && pattern === undefined)
      throw invalidInput(
        `${path}.${key}: ${describeValue(name)} is not supported without a pattern. The supported ones are ${Object.keys(FORMATS).join(', ')}.`,
      );
    if (known) patterns.push(known);
  }
  return [...new Set(patterns)];
}

/** Returns whether any value fits a schema, because it says nothing of values. */
function isAny(schema: unknown): boolean {
  return schema === true || (isPlainObject(schema) && Object.keys(schema).every((key) => NOTES.has(key)));
}

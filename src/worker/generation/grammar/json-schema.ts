/** The grammar of the values that fit a JSON Schema. What it cannot say is refused by name. */
import { describeValue, shorten } from '../../../contract/describe-value.js';
import { invalidInput, type TabServeError } from '../../../contract/errors.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { endlessRules, oneOf, type Grammar, type Rule } from './grammar.js';
import { BOOLEAN, list, literals, nameRest, nameRestBut, NULL, object, OBJECT, string, VALUE } from './json.js';
import { numberGrammar, OF_NUMBERS } from './json-schema-numbers.js';

type Schema = Readonly<Record<string, unknown>>;

/** Keywords that change no answer. */
const NOTES = [
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
] as const;
/** A schema has at most one of these. */
const FORMS = ['$ref', 'const', 'enum', 'anyOf', 'allOf'] as const;
/** The keywords that limit the values of a type. */
const OF_TYPES = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems'],
  string: ['minLength', 'maxLength'],
  number: OF_NUMBERS,
  integer: OF_NUMBERS,
  boolean: [],
  null: [],
} as const;
type Type = keyof typeof OF_TYPES;
const TYPES = Object.keys(OF_TYPES) as Type[];
/** Without `type`, a value has any of them. */
const ALL_TYPES = TYPES.filter((type) => type !== 'integer');
const LIMITS = Object.values(OF_TYPES).flat() as readonly string[];
const KNOWN: ReadonlySet<string> = new Set([...NOTES, ...FORMS, 'type', ...LIMITS]);

/** Schemas are in one another to this depth. */
const MAX_DEPTH = 100;
/** A message shows so many characters of where a schema is. */
const MAX_PATH = 120;

/**
 * Returns the grammar of the values that fit a schema.
 * @param where how messages call the schema
 * @throws `invalid-input` naming what is no schema, what is not supported, or what no value fits
 */
export function schemaGrammar(schema: unknown, where: string): Grammar {
  return new SchemaReader(schema, where).read();
}

class SchemaReader {
  readonly #root: unknown;
  readonly #where: string;
  /** By their `$ref`. */
  readonly #rules = new Map<string, Rule>();
  /** Of strings and numbers, by their limits. */
  readonly #leaves = new Map<string, Grammar>();

  constructor(root: unknown, where: string) {
    this.#root = root;
    this.#where = where;
  }

  read(): Grammar {
    const root: Rule = { kind: 'rule' };
    this.#rules.set('#', root);
    root.body = this.#grammar(this.#root, this.#where, 0);
    const endless = endlessRules(root);
    const [name] = [...this.#rules].find(([, rule]) => endless.includes(rule)) ?? [];
    if (name !== undefined)
      throw invalidInput(`${this.#where}: no value fits "${shorten(name)}", because it contains itself without end.`);
    return root.body;
  }

  #grammar(schema: unknown, where: string, depth: number): Grammar {
    const path = shortPath(where);
    if (schema === true) return VALUE;
    if (schema === false) throw invalidInput(`${path}: no value fits false. Leave it out.`);
    if (!isPlainObject(schema)) throw invalidInput(`${path}: expected a JSON Schema, got ${describeValue(schema)}.`);
    if (depth > MAX_DEPTH) throw tooDeep(this.#where);
    const keys = Object.keys(schema).filter((key) => schema[key] !== undefined);
    const unknown = keys.find((key) => !KNOWN.has(key));
    if (unknown !== undefined)
      throw invalidInput(
        `${path}.${shorten(unknown)}: this keyword is not supported. The supported ones are in docs/generate.md.`,
      );
    const types = typesOf(schema, path);
    const form = FORMS.find((key) => keys.includes(key));
    if (form === undefined) return oneOf((types ?? ALL_TYPES).map((type) => this.#ofType(type, schema, path, depth)));
    const isValue = form === 'const' || form === 'enum';
    const other = keys.find(
      (key) => key !== form && !(NOTES as readonly string[]).includes(key) && !(isValue && key === 'type'),
    );
    if (other !== undefined) throw invalidInput(`${path}.${other}: this keyword is not supported beside ${form}.`);
    const value = schema[form];
    switch (form) {
      case '$ref':
        return this.#referred(value, `${path}.$ref`, depth);
      case 'const':
        return literalsOf([value], types, `${path}.const`);
      case 'enum':
        return literalsOf(listOf(value, `${path}.enum`), types, `${path}.enum`);
      case 'anyOf':
        return oneOf(
          listOf(value, `${path}.anyOf`).map((one, at) => this.#grammar(one, `${path}.anyOf[${at}]`, depth + 1)),
        );
      case 'allOf': {
        const [only, ...others] = listOf(value, `${path}.allOf`);
        if (others.length > 0) throw invalidInput(`${path}.allOf: only one schema is supported in it.`);
        return this.#grammar(only, `${path}.allOf[0]`, depth + 1);
      }
    }
  }

  #ofType(type: Type, schema: Schema, path: string, depth: number): Grammar {
    switch (type) {
      case 'object':
        return this.#object(schema, path, depth);
      case 'array':
        return this.#list(schema, path, depth);
      case 'string': {
        const [min, max] = countsOf(schema, 'minLength', 'maxLength', path);
        return this.#shared(`string ${min} ${max}`, () => string(min, max));
      }
      case 'number':
      case 'integer': {
        const bounds = JSON.stringify(OF_NUMBERS.map((key) => schema[key]));
        return this.#shared(`${type} ${bounds}`, () => numberGrammar(type, schema, path));
      }
      case 'boolean':
        return BOOLEAN;
      case 'null':
        return NULL;
    }
  }

  /** Returns one grammar for schemas that are alike: alternatives that share it are no alternatives. */
  #shared(key: string, make: () => Grammar): Grammar {
    const grammar = this.#leaves.get(key) ?? make();
    this.#leaves.set(key, grammar);
    return grammar;
  }

  #object(schema: Schema, path: string, depth: number): Grammar {
    const { properties = {}, required = [], additionalProperties: more } = schema;
    if (!isPlainObject(properties))
      throw invalidInput(`${path}.properties: expected schemas by name, got ${describeValue(properties)}.`);
    if (!Array.isArray(required) || !required.every((name): name is string => typeof name === 'string'))
      throw invalidInput(`${path}.required: expected a list of names, got ${describeValue(required)}.`);
    const names = Object.keys(properties);
    const isRequired = new Set(required);
    const foreign = [...isRequired].filter((name) => !Object.hasOwn(properties, name));
    if (more === false && foreign.length > 0)
      throw invalidInput(
        `${path}.required: "${shorten(foreign[0]!)}" is not in properties, and additionalProperties is false.`,
      );
    if (names.length + foreign.length === 0 && more === undefined) return OBJECT;
    // Those that the schema does not name are left out, unless it speaks of them.
    const others =
      more === undefined || more === false ? undefined : this.#grammar(more, `${path}.additionalProperties`, depth + 1);
    const members = [
      ...names.map((name) => ({
        name,
        value: this.#grammar(properties[name], `${path}.properties.${name}`, depth + 1),
      })),
      ...foreign.map((name) => ({ name, value: others ?? VALUE })),
    ].map(({ name, value }) => ({ key: nameRest(name), value, isRequired: isRequired.has(name) }));
    return object(members, others && { key: nameRestBut([...names, ...foreign]), value: others });
  }

  #list(schema: Schema, path: string, depth: number): Grammar {
    const { prefixItems: prefix = [], items, uniqueItems = false } = schema;
    if (!Array.isArray(prefix))
      throw invalidInput(`${path}.prefixItems: expected a list of schemas, got ${describeValue(prefix)}.`);
    if (uniqueItems !== false) throw invalidInput(`${path}.uniqueItems: only false is supported.`);
    const [min, max] = countsOf(schema, 'minItems', 'maxItems', path);
    const first = prefix.map((one, at) => this.#grammar(one, `${path}.prefixItems[${at}]`, depth + 1));
    const others = items === undefined || items === false ? VALUE : this.#grammar(items, `${path}.items`, depth + 1);
    // Items that the schema does not describe are left out.
    const isClosed = items === false || (items === undefined && first.length > 0);
    if (items === false && min > first.length)
      throw invalidInput(`${path}.minItems: ${min} is more than the ${first.length} that prefixItems and items allow.`);
    return list(first, others, min, isClosed ? Math.min(max, Math.max(min, first.length)) : max);
  }

  #referred(ref: unknown, path: string, depth: number): Grammar {
    if (typeof ref !== 'string' || (ref !== '#' && !ref.startsWith('#/')))
      throw invalidInput(`${path}: expected a part of this schema, such as "#/$defs/name", got ${describeValue(ref)}.`);
    const known = this.#rules.get(ref);
    if (known) return known;
    const rule: Rule = { kind: 'rule' };
    this.#rules.set(ref, rule);
    let target = this.#root;
    for (const part of ref.split('/').slice(1)) {
      const key = unescape(part);
      const isThere = typeof target === 'object' && target !== null && Object.hasOwn(target, key);
      if (!isThere) throw invalidInput(`${path}: the schema has no ${shorten(ref)}.`);
      target = (target as Schema)[key];
    }
    rule.body = this.#grammar(target, `${this.#where}${ref.slice(1).replaceAll('/', '.')}`, depth + 1);
    return rule;
  }
}

/** Returns a path with its beginning and its end. */
function shortPath(path: string): string {
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH / 2)}…${path.slice(-MAX_PATH / 2)}` : path;
}

/** Returns a part of a JSON Pointer in a URL as it was before it was escaped. */
function unescape(part: string): string {
  let decoded = part;
  try {
    decoded = decodeURIComponent(part);
  } catch {
    // A percent sign that escapes nothing stands for itself.
  }
  return decoded.replaceAll('~1', '/').replaceAll('~0', '~');
}

function typesOf({ type }: Schema, path: string): readonly Type[] | undefined {
  if (type === undefined) return undefined;
  const types = Array.isArray(type) ? listOf(type, `${path}.type`) : [type];
  if (types.every((one): one is Type => (TYPES as readonly unknown[]).includes(one))) return types;
  throw invalidInput(
    `${path}.type: expected one of ${TYPES.join(', ')}, or a list of them, got ${describeValue(type)}.`,
  );
}

/** Returns the least and the most of something that is counted. */
function countsOf(schema: Schema, least: string, most: string, path: string): readonly [min: number, max: number] {
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
function listOf(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value) && value.length > 0) return value;
  throw invalidInput(`${path}: expected a list with at least one, got ${describeValue(value)}.`);
}

/** Returns those of the values that have one of the types. */
function literalsOf(values: readonly unknown[], types: readonly Type[] | undefined, path: string): Grammar {
  const fit = values.filter((value) => types?.some((type) => isOfType(value, type)) ?? true);
  if (fit.length > 0) return literals(fit);
  throw invalidInput(`${path}: no value in it is of the schema's type.`);
}

function isOfType(value: unknown, type: Type): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  // oxlint-disable-next-line valid-typeof
  return typeof value === type && (type !== 'object' || isPlainObject(value));
}

/** Returns the error for a schema of too many levels. */
export function tooDeep(where: string): TabServeError {
  return invalidInput(`${where}: schemas are at most ${MAX_DEPTH} levels deep here.`);
}

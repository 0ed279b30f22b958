/** The grammar of the values that fit a JSON Schema. What it cannot say is refused by name. */
import { describeValue, shorten } from '../../../contract/describe-value.js';
import { invalidInput, type TabServeError } from '../../../contract/errors.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { excludes } from './disjoint.js';
import { endlessRules, oneOf, type Grammar, type Rule } from './grammar.js';
import { BOOLEAN, list, literals, NULL, VALUE } from './json.js';
import { numberGrammar, OF_NUMBERS } from './json-schema-numbers.js';
import { objectGrammar } from './json-schema-objects.js';
import { stringGrammar } from './json-schema-strings.js';
import { mergeSchemas } from './merge-schemas.js';
import { MAX_WORK, matcher, type Budget } from './regular.js';
import { inDialect, type Schema } from './schema-dialects.js';
import { countsOf, listOf } from './schema-values.js';
import { Targets } from './targets.js';
import { uniqueList } from './unique-items.js';

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
type Type = (typeof TYPES)[number];
/** Without `type`, a value has any of them. */
const ALL_TYPES = TYPES.filter((type) => type !== 'integer');
/** What is read before the types. */
const FORMS = ['$ref', 'allOf', 'if', 'anyOf', 'oneOf', 'not', 'enum'] as const;

/** Schemas are in one another to this depth. */
const MAX_DEPTH = 100;
/** This many schemas are read, each time that one is part of another. */
const MAX_SCHEMAS = 40_000;
/** Each alternative of a `oneOf` is compared with each other one. */
const MAX_COMPARED = 100;
/** A message shows this many characters of where a schema is. */
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
  readonly #targets: Targets;
  readonly #budget: Budget;
  /** By their `$ref`, and of schemas that are merged, by themselves. */
  readonly #rules = new Map<unknown, Rule>();
  /** Of strings and numbers, by their limits. */
  readonly #leaves = new Map<string, Grammar>();
  #schemas = 0;

  constructor(root: unknown, where: string) {
    this.#root = root;
    this.#where = where;
    this.#targets = new Targets(root);
    this.#budget = { left: MAX_WORK, where };
  }

  read(): Grammar {
    const root: Rule = { kind: 'rule' };
    this.#rules.set('#', root);
    root.body = this.#grammar(this.#root, this.#where, 0);
    const endless = endlessRules(root);
    const [name] = [...this.#rules].find(([, rule]) => endless.includes(rule)) ?? [];
    if (name !== undefined)
      throw invalidInput(
        `${this.#where}: no value fits ${typeof name === 'string' ? `"${shorten(name)}"` : 'a part of it'}, because it contains itself without end.`,
      );
    return root.body;
  }

  #grammar(value: unknown, where: string, depth: number): Grammar {
    const path = shortPath(where);
    const schema = this.#dialect(value, path, depth);
    if (!schema) throw invalidInput(`${path}: no value fits it. Leave it out.`);
    const { $ref: ref, ...others } = schema;
    if (ref !== undefined && Object.keys(others).length === 0)
      return this.#rule(ref, () => {
        const target = this.#targets.of(ref, `${path}.$ref`);
        return this.#grammar(
          target,
          `${this.#where}.${String(ref).replace(/^#\/?/, '').replaceAll('/', '.')}`,
          depth + 1,
        );
      });
    if (ref === undefined && schema['allOf'] === undefined) return this.#plain(schema, path, depth);
    // One that contains itself is merged once.
    return this.#rule(value, () => {
      const flat = this.#flat(schema, path, depth);
      if (!flat) throw invalidInput(`${path}: no value fits all of its schemas.`);
      return this.#plain(flat, path, depth + 1);
    });
  }

  /** Returns what a schema says of values; false if no value fits it. */
  #dialect(value: unknown, path: string, depth: number): Schema | false {
    this.#schemas += 1;
    if (depth > MAX_DEPTH) throw tooDeep(this.#where);
    if (this.#schemas > MAX_SCHEMAS)
      throw invalidInput(
        `${this.#where}: it has more than ${MAX_SCHEMAS} schemas, where allOf, anyOf and $ref are merged.`,
      );
    return inDialect(value, path);
  }

  /** Returns one rule for each key. */
  #rule(key: unknown, make: () => Grammar): Rule {
    const known = this.#rules.get(key);
    if (known) return known;
    const rule: Rule = { kind: 'rule' };
    this.#rules.set(key, rule);
    rule.body = make();
    return rule;
  }

  /** Returns a schema merged with those of its `$ref` and `allOf`; false if no value fits all of them. */
  #flat({ $ref: ref, allOf, ...own }: Schema, path: string, depth: number): Schema | false {
    const all = [
      ...(ref === undefined ? [] : [[this.#targets.of(ref, `${path}.$ref`), `${path}.$ref`] as const]),
      ...(allOf === undefined
        ? []
        : listOf(allOf, `${path}.allOf`).map((one, at) => [one, `${path}.allOf[${at}]`] as const)),
    ];
    return all.reduce<Schema | false>(
      (merged, [value, where]) => this.#merged(merged, this.#flattened(value, where, depth), path),
      own,
    );
  }

  #flattened(value: unknown, where: string, depth: number): Schema | false {
    const path = shortPath(where);
    const schema = this.#dialect(value, path, depth + 1);
    return schema && this.#flat(schema, path, depth + 1);
  }

  #merged(one: Schema | false, other: Schema | false, path: string): Schema | false {
    return mergeSchemas(one, other, (key) =>
      invalidInput(`${path}: two of its schemas have ${key}, which is not supported together. Write one of them.`),
    );
  }

  /** Returns the grammar of a schema without references and `allOf`. */
  #plain(schema: Schema, path: string, depth: number): Grammar {
    const form = FORMS.find((key) => Object.hasOwn(schema, key));
    switch (form) {
      case 'if': {
        const { if: condition, then = true, else: other = true, ...rest } = schema;
        const options = [{ allOf: [condition, then] }, { allOf: [{ not: condition }, other] }];
        return this.#options(options, rest, path, depth);
      }
      case 'anyOf':
      case 'oneOf': {
        const { [form]: options, ...rest } = schema;
        return this.#options(listOf(options, `${path}.${form}`), rest, `${path}.${form}`, depth, form === 'oneOf');
      }
      case 'not':
        return this.#not(schema, path, depth);
      case 'enum':
        return this.#literals(schema, `${path}.enum`, depth);
      default:
        return oneOf((typesOf(schema, path) ?? ALL_TYPES).map((type) => this.#ofType(type, schema, path, depth)));
    }
  }

  /** Returns the alternatives, each together with the rest of the schema. Those that no value fits are left out. */
  #options(options: readonly unknown[], rest: Schema, path: string, depth: number, isOneOf = false): Grammar {
    const all = options.map((option, at) => {
      const where = `${path}[${at}]`;
      return this.#merged(rest, this.#flattened(option, where, depth), where);
    });
    if (isOneOf) this.#checkDisjoint(all, path, depth);
    const isAlone = Object.keys(rest).length === 0;
    const grammars = all.flatMap((flat, at) => {
      const where = `${path}[${at}]`;
      if (!flat) return [];
      return [isAlone ? this.#grammar(options[at], where, depth + 1) : this.#plain(flat, where, depth + 1)];
    });
    if (grammars.length > 0) return oneOf(grammars);
    throw invalidInput(`${path}: no value fits any of them.`);
  }

  #checkDisjoint(options: readonly (Schema | false)[], path: string, depth: number): void {
    if (options.length > MAX_COMPARED)
      throw invalidInput(
        `${path}: it has ${options.length} schemas; at most ${MAX_COMPARED} are supported. Use anyOf.`,
      );
    const flatten = (value: unknown): Schema | false => this.#flattened(value, path, depth);
    for (const [at, one] of options.entries())
      for (const [its, other] of options.entries())
        if (at !== its && !excludes(one, other, flatten))
          throw invalidInput(
            `${path}: a value may fit both [${Math.min(at, its)}] and [${Math.max(at, its)}]. Use anyOf, or schemas that differ in their type, in a required property, or in its values.`,
          );
  }

  /** Types are all that values can be without. */
  #not({ not, ...rest }: Schema, path: string, depth: number): Grammar {
    const excluded = this.#flattened(not, `${path}.not`, depth);
    if (!excluded) return this.#plain(rest, path, depth);
    const { type: _, ...more } = excluded;
    const without = typesOf(excluded, `${path}.not`);
    const types = typesOf(rest, path) ?? ALL_TYPES;
    if (!without || Object.keys(more).length > 0 || (without.includes('integer') && types.includes('number')))
      throw invalidInput(`${path}.not: only { "type": … } is supported in it.`);
    const type = types.filter((one) => !without.includes(one) && !(one === 'integer' && without.includes('number')));
    if (type.length > 0) return this.#plain({ ...rest, type }, path, depth);
    throw invalidInput(`${path}.not: no value fits it.`);
  }

  /** Returns those of the values that fit the rest of the schema. */
  #literals(schema: Schema, path: string, depth: number): Grammar {
    const { enum: list, ...rest } = schema;
    const values = listOf(list, path);
    const types = typesOf(rest, path);
    const ofType = values.filter((value) => types?.some((type) => isOfType(value, type)) ?? true);
    const fits = Object.keys(rest).every((key) => key === 'type') ? undefined : matcher(this.#plain(rest, path, depth));
    const fit = fits ? ofType.filter((value) => fits(JSON.stringify(value))) : ofType;
    if (fit.length > 0) return literals(fit);
    throw invalidInput(
      `${path}: no value in it ${ofType.length > 0 ? 'fits the rest of the schema' : "is of the schema's type"}.`,
    );
  }

  #ofType(type: Type, schema: Schema, path: string, depth: number): Grammar {
    switch (type) {
      case 'object': {
        const reader = {
          grammar: (value: unknown, where: string) => this.#grammar(value, where, depth + 1),
          flatten: (value: unknown, where: string) => this.#flattened(value, where, depth),
          budget: this.#budget,
        };
        return objectGrammar(schema, path, reader);
      }
      case 'array':
        return this.#list(schema, path, depth);
      case 'string': {
        const limits = JSON.stringify([schema['minLength'], schema['maxLength'], schema['patterns']]);
        return this.#shared(`string ${limits}`, () => stringGrammar(schema, path, this.#budget));
      }
      case 'number':
      case 'integer': {
        const bounds = JSON.stringify(OF_NUMBERS.map((key) => schema[key]));
        return this.#shared(`${type} ${bounds}`, () => numberGrammar(type, schema, path, this.#budget));
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

  #list(schema: Schema, path: string, depth: number): Grammar {
    const { prefixItems: prefix = [], items, uniqueItems = false } = schema;
    if (!Array.isArray(prefix))
      throw invalidInput(`${path}.prefixItems: expected a list of schemas, got ${describeValue(prefix)}.`);
    if (typeof uniqueItems !== 'boolean')
      throw invalidInput(`${path}.uniqueItems: expected true or false, got ${describeValue(uniqueItems)}.`);
    const [min, max] = countsOf(schema, 'minItems', 'maxItems', path);
    const first = prefix.map((one, at) => this.#grammar(one, `${path}.prefixItems[${at}]`, depth + 1));
    const isNone = items !== undefined && inDialect(items, `${path}.items`) === false;
    const others = items === undefined || isNone ? VALUE : this.#grammar(items, `${path}.items`, depth + 1);
    // Items that the schema does not describe are left out.
    const isClosed = isNone || (items === undefined && first.length > 0);
    if (isNone && min > first.length)
      throw invalidInput(`${path}.minItems: ${min} is more than the ${first.length} that prefixItems and items allow.`);
    const most = isClosed ? Math.min(max, Math.max(min, first.length)) : max;
    if (!uniqueItems || most <= 1) return list(first, others, min, most);
    if (first.length > 0) throw invalidInput(`${path}.uniqueItems: it is not supported beside prefixItems.`);
    return uniqueList(others, min, most, path, this.#budget);
  }
}

/** Returns a path with its beginning and its end. */
function shortPath(path: string): string {
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH / 2)}…${path.slice(-MAX_PATH / 2)}` : path;
}

function typesOf({ type }: Schema, path: string): readonly Type[] | undefined {
  if (type === undefined) return undefined;
  const types = Array.isArray(type) ? listOf(type, `${path}.type`) : [type];
  if (types.every((one): one is Type => (TYPES as readonly unknown[]).includes(one))) return types;
  throw invalidInput(
    `${path}.type: expected one of ${TYPES.join(', ')}, or a list of them, got ${describeValue(type)}.`,
  );
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

/** What JSON Schema says of objects. */
import { describeValue, shorten } from '../../../contract/describe-value.js';
import { invalidInput } from '../../../contract/errors.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { oneOf, repeat, text, type Grammar } from './grammar.js';
import { CHARACTER } from './characters.js';
import { nameRest, nameRestBut, object, OBJECT, stringRest, type Member, type NamedMember } from './json.js';
import { contentOf } from './json-schema-strings.js';
import { matchingTexts } from './pattern.js';
import { both, matcher, without, type Budget } from './regular.js';
import type { Schema } from './schema-dialects.js';
import { countsOf } from './schema-values.js';

/** `minProperties` and `maxProperties`, multiplied by the number of properties, are at most this. */
const MAX_COUNTED = 100_000;

/** What `propertyNames` may say of names. */
const OF_NAMES: ReadonlySet<string> = new Set(['type', 'enum', 'patterns', 'minLength', 'maxLength']);

/** Reads the schemas in a schema. */
export interface InnerReader {
  grammar(schema: unknown, path: string): Grammar;
  flatten(schema: unknown, path: string): Schema | false;
  readonly budget: Budget;
}

/** A schema of the properties whose names a pattern finds. */
interface NamePattern {
  readonly content: Grammar;
  readonly matches: (content: string) => boolean;
  readonly schema: unknown;
  readonly path: string;
}

/** What `propertyNames` says: the names themselves, or what is in them. */
interface NameLimits {
  readonly names?: readonly string[];
  readonly content?: Grammar;
}

/**
 * Returns the grammar of the objects that fit a schema.
 * @throws `invalid-input` for what is not supported, and if no object fits
 */
export function objectGrammar(schema: Schema, path: string, reader: InnerReader): Grammar {
  const { properties = {}, required = [], additionalProperties } = schema;
  if (!isPlainObject(properties))
    throw invalidInput(`${path}.properties: expected schemas by name, got ${describeValue(properties)}.`);
  if (!Array.isArray(required) || !required.every((name): name is string => typeof name === 'string'))
    throw invalidInput(`${path}.required: expected a list of names, got ${describeValue(required)}.`);
  const patterns = patternsOf(schema, path, reader);
  const limits = limitsOf(schema, path, reader);
  const isAllowed = allowedBy(limits);
  const names = [...new Set([...Object.keys(properties), ...required, ...(limits?.names ?? [])])];
  const isRequired = new Set(required);

  const members = names.flatMap((name): readonly NamedMember[] => {
    const said = patterns.filter(({ matches }) => matches(contentIn(name)));
    const own = Object.hasOwn(properties, name)
      ? [{ schema: properties[name], path: `${path}.properties.${name}` }]
      : said.length > 0
        ? []
        : [{ schema: additionalProperties ?? true, path: `${path}.additionalProperties` }];
    const [first, ...others] = [...own, ...said];
    const whole = others.length === 0 ? first!.schema : { allOf: [first!.schema, ...others.map((one) => one.schema)] };
    const isNone = !isAllowed(name) || reader.flatten(whole, first!.path) === false;
    if (isNone && isRequired.has(name))
      throw invalidInput(`${path}.required: the rest of the schema allows no property "${shorten(name)}".`);
    if (isNone) return [];
    return [{ key: nameRest(name), value: reader.grammar(whole, first!.path), isRequired: isRequired.has(name) }];
  });

  const [min, max] = countsOf(schema, 'minProperties', 'maxProperties', path);
  // Those that the schema does not name are left out, unless it speaks of them, or needs them.
  const isNamed = names.length + patterns.length > 0 && min <= members.length;
  const more = limits?.names ? false : (additionalProperties ?? !isNamed);
  if (more === true && names.length + patterns.length === 0 && min === 0 && max === Infinity && !limits) return OBJECT;
  const others = othersOf(names, patterns, { schema: more, path: `${path}.additionalProperties` }, limits, reader);
  return counted(members, others, min, max, path);
}

function counted(
  members: readonly NamedMember[],
  others: readonly Member[],
  min: number,
  max: number,
  path: string,
): Grammar {
  // Without others, there are never more than these.
  const most = others.length === 0 && max >= members.length ? Infinity : max;
  if ((members.length + 1) * (most < Infinity ? most : min) > MAX_COUNTED)
    throw invalidInput(
      `${path}: minProperties and maxProperties are supported up to ${MAX_COUNTED}, divided by the number of properties.`,
    );
  const found = object(members, others, min, most);
  if (found) return found;
  throw invalidInput(
    `${path}: no object has so few or so many properties. With minProperties, at most one of them is not named by the schema.`,
  );
}

/** Returns the members that the schema does not name, by the patterns of their names. */
function othersOf(
  names: readonly string[],
  patterns: readonly NamePattern[],
  more: { readonly schema: unknown; readonly path: string },
  limits: NameLimits | undefined,
  { grammar, flatten, budget }: InnerReader,
): readonly Member[] {
  if (limits?.names) return [];
  const named = names.length === 0 ? undefined : oneOf(names.map((name) => text(contentIn(name))));
  /** Returns a name without those that others speak of. */
  const keyOf = (content: Grammar, others: readonly Grammar[]): Grammar | undefined => {
    const allowed = limits?.content ? both(content, limits.content, budget) : content;
    const all = named ? [named, ...others] : others;
    const rest = all.reduce<Grammar | undefined>((left, other) => left && without(left, other, budget), allowed);
    return rest && stringRest(rest);
  };
  const contents = patterns.map(({ content }) => content);
  const isMore = flatten(more.schema, more.path) !== false;
  const isFree = isMore && patterns.length === 0 && !limits?.content;
  const all = [
    ...patterns.map(({ content, schema, path }) => ({
      key: keyOf(
        content,
        contents.filter((other) => other !== content),
      ),
      schema,
      path,
    })),
    ...(isMore ? [{ ...more, key: isFree ? nameRestBut(names) : keyOf(repeat(CHARACTER, 0), contents) }] : []),
  ];
  return all.flatMap(({ key, schema, path }) =>
    key && flatten(schema, path) ? [{ key, value: grammar(schema, path) }] : [],
  );
}

function patternsOf({ patternProperties = {} }: Schema, path: string, { budget }: InnerReader): readonly NamePattern[] {
  if (!isPlainObject(patternProperties))
    throw invalidInput(
      `${path}.patternProperties: expected schemas by pattern, got ${describeValue(patternProperties)}.`,
    );
  return Object.entries(patternProperties).flatMap(([pattern, schema]) => {
    const content = matchingTexts([pattern], [0, Infinity], `${path}.patternProperties`, budget);
    const where = `${path}.patternProperties.${pattern}`;
    return content ? [{ content, matches: matcher(content), schema, path: where }] : [];
  });
}

function limitsOf({ propertyNames }: Schema, path: string, { flatten, budget }: InnerReader): NameLimits | undefined {
  if (propertyNames === undefined) return undefined;
  const where = `${path}.propertyNames`;
  const schema = flatten(propertyNames, where);
  if (!schema) return { names: [] };
  const { type = 'string', enum: values } = schema;
  const other = Object.keys(schema).find((key) => !OF_NAMES.has(key));
  if (other !== undefined) throw invalidInput(`${where}.${other}: this keyword is not supported here.`);
  if (![type].flat().includes('string')) return { names: [] };
  const content = contentOf(schema, where, budget);
  if (!Array.isArray(values)) return content && { content };
  const fits = content && matcher(content);
  return { names: values.filter((name) => typeof name === 'string' && (fits?.(contentIn(name)) ?? true)) };
}

/** Returns a function that says whether a name is allowed. */
function allowedBy(limits: NameLimits | undefined): (name: string) => boolean {
  if (limits?.names) return (name) => limits.names!.includes(name);
  if (!limits?.content) return () => true;
  const matches = matcher(limits.content);
  return (name) => matches(contentIn(name));
}

/** Returns a name as it is between its quotation marks. */
function contentIn(name: string): string {
  return JSON.stringify(name).slice(1, -1);
}

/** Filters of lists and mappings. Some return an iterator, which is read once and only as far as somebody reads it. */
import { flag, integer, needed, text } from './arguments.js';
import { calculate } from './arithmetic.js';
import { itemOf } from './attributes.js';
import type { Budget } from './budget.js';
import { compare, isEqual, isTrue, iterate, lengthOf } from './compare.js';
import { failure } from './errors.js';
import type { Filter, Filters, FilterTools } from './filter.js';
import { escaped, toText } from './print.js';
import {
  asText,
  Dict,
  Group,
  Iteration,
  Markup,
  orElse,
  Tuple,
  Undefined,
  type Arguments,
  type Value,
} from './values.js';

/** Returns the function that reads an attribute, such as `a.b.0`, of an item; without one, the item itself. */
function getter(
  budget: Budget,
  attribute: Value | undefined,
  ignoresCase = false,
  byDefault?: Value,
): (item: Value) => Value {
  const parts: readonly Value[] =
    attribute === undefined || attribute === null
      ? []
      : asText(attribute) === undefined
        ? [attribute]
        : asText(attribute)!
            .split('.')
            .map((part) => (/^\d+$/.test(part) ? BigInt(part) : part));
  return (item) => {
    let value = item;
    for (const part of parts) {
      value = itemOf(value, part, budget);
      if (byDefault !== undefined && byDefault !== null && value instanceof Undefined) value = byDefault;
    }
    return ignoresCase && asText(value) !== undefined ? asText(value)!.toLowerCase() : value;
  };
}

function* counted(value: Value, { budget }: FilterTools): Generator<Value> {
  for (const item of iterate(value)) {
    budget.step();
    yield item;
  }
}

function listOf(value: Value, tools: FilterTools): Value[] {
  const items = [...counted(value, tools)];
  tools.budget.make(items.length);
  return items;
}

function sorted(value: Value, tools: FilterTools, key: (item: Value) => Value, reverse: boolean): Value[] {
  const items = listOf(value, tools).map((item) => [key(item), item] as const);
  // Both directions keep the order of what is equal.
  return items
    .sort(([a], [b]) => (reverse ? compare(b, a, tools.budget) : compare(a, b, tools.budget)))
    .map(([, item]) => item);
}

function* unique(value: Value, tools: FilterTools, key: (item: Value) => Value): Generator<Value> {
  const seen = new Dict();
  for (const item of counted(value, tools)) {
    const own = key(item);
    if (seen.has(own)) continue;
    tools.budget.step();
    seen.set(own, true);
    yield item;
  }
}

function groups(
  value: Value,
  tools: FilterTools,
  attribute: Value | undefined,
  byDefault: Value | undefined,
  isCaseSensitive: Value | undefined,
): Value[] {
  const ignoresCase = !flag(isCaseSensitive);
  const [key, shown] = [
    getter(tools.budget, attribute, ignoresCase, byDefault),
    getter(tools.budget, attribute, false, byDefault),
  ];
  const found: { key: Value; shown: Value; items: Value[] }[] = [];
  for (const item of sorted(value, tools, key, false)) {
    const last = found.at(-1);
    if (last && isEqual(last.key, key(item), tools.budget)) last.items.push(item);
    else found.push({ key: key(item), shown: shown(item), items: [item] });
  }
  return found.map((group) => Group.with([group.shown, group.items]));
}

const extreme = (sign: 1 | -1): Filter => [
  ['case_sensitive', 'attribute'],
  (value, tools, isCaseSensitive, attribute) => {
    const key = getter(tools.budget, attribute, !flag(isCaseSensitive));
    let best: Value | undefined;
    for (const item of counted(value, tools))
      if (best === undefined || compare(key(item), key(best), tools.budget) * sign > 0) best = item;
    return orElse(best, () => new Undefined('No aggregated item, sequence was empty.'));
  },
];

const length: Filter = [[], (value) => BigInt(lengthOf(value))];
const byDefault: Filter = [
  ['default_value', 'boolean'],
  (value, _tools, other = '', boolean) =>
    value instanceof Undefined || (flag(boolean) && !isTrue(value)) ? other : value,
];

function join(value: Value, tools: FilterTools, separator: Value | undefined, attribute: Value | undefined): string {
  const key = getter(tools.budget, attribute);
  const [mark, parts] = [separator === undefined ? '' : toText(separator, tools.budget), [] as string[]];
  for (const item of counted(value, tools)) {
    parts.push(toText(key(item), tools.budget));
    tools.budget.make(mark.length + parts.at(-1)!.length);
  }
  return parts.join(mark);
}

function dictsort(
  value: Value,
  tools: FilterTools,
  isCaseSensitive: Value | undefined,
  by: Value | undefined,
  reverse: Value | undefined,
): Value[] {
  if (!(value instanceof Dict)) throw failure('dictsort takes a mapping');
  const [at, key] = [text(by, 'key'), getter(tools.budget, undefined, !flag(isCaseSensitive))];
  if (at !== 'key' && at !== 'value') throw failure('You can only sort by either "key" or "value"');
  const pairs = [...value.entries()].map((entry) => Tuple.with(entry));
  return sorted(pairs, tools, (pair) => key((pair as Value[])[at === 'key' ? 0 : 1]!), flag(reverse));
}

function* batches(value: Value, tools: FilterTools, count: number, fill: Value | undefined): Generator<Value> {
  let batch: Value[] = [];
  for (const item of counted(value, tools)) {
    if (batch.length === count) {
      yield batch;
      batch = [];
    }
    batch.push(item);
  }
  if (batch.length === 0) return;
  if (fill !== undefined && fill !== null) {
    tools.budget.make(count);
    while (batch.length < count) batch.push(fill);
  }
  yield batch;
}

function* slices(value: Value, tools: FilterTools, count: number, fill: Value | undefined): Generator<Value> {
  const items = listOf(value, tools);
  const [size, longer] = [Math.floor(items.length / count), items.length % count];
  for (let at = 0, start = 0; at < count; at++) {
    tools.budget.step();
    const end = start + size + (at < longer ? 1 : 0);
    const slice = items.slice(start, end);
    yield at >= longer && fill !== undefined && fill !== null ? [...slice, fill] : slice;
    start = end;
  }
}

/** Filters by their names, with the arguments bound to their parameters. */
export const LIST_FILTERS: Filters = {
  batch: [
    ['linecount', 'fill_with'],
    (value, tools, count, fill) => new Iteration(batches(value, tools, integer(count), fill)),
  ],
  count: length,
  d: byDefault,
  default: byDefault,
  dictsort: [['case_sensitive', 'by', 'reverse'], dictsort],
  first: [
    [],
    (value) => {
      for (const item of iterate(value)) return item;
      return new Undefined('No first item, sequence was empty.');
    },
  ],
  groupby: [['attribute', 'default', 'case_sensitive'], groups],
  items: [
    [],
    (value) => {
      if (value instanceof Undefined) return new Iteration([]);
      if (!(value instanceof Dict)) throw failure('Can only get item pairs from a mapping.');
      return new Iteration(Array.from(value.entries(), (entry) => Tuple.with(entry)));
    },
  ],
  join: [['d', 'attribute'], join],
  last: [
    [],
    (value, tools) =>
      orElse([...counted(value, tools)].at(-1), () => new Undefined('No last item, sequence was empty.')),
  ],
  length,
  list: [[], listOf],
  max: extreme(1),
  min: extreme(-1),
  reverse: [
    [],
    (value, tools) => {
      const own = asText(value);
      if (own === undefined) return new Iteration(listOf(value, tools).toReversed());
      const reversed = [...own].toReversed().join('');
      return value instanceof Markup ? new Markup(reversed) : reversed;
    },
  ],
  slice: [
    ['slices', 'fill_with'],
    (value, tools, count, fill) => new Iteration(slices(value, tools, integer(count), fill)),
  ],
  sort: [
    ['reverse', 'case_sensitive', 'attribute'],
    (value, tools, reverse, isCaseSensitive, attribute) => {
      const getters = (asText(attribute ?? null)?.split(',') ?? [attribute]).map((one) =>
        getter(tools.budget, one, !flag(isCaseSensitive)),
      );
      const key = getters.length === 1 ? getters[0]! : (item: Value): Value => getters.map((get) => get(item));
      return sorted(value, tools, key, flag(reverse));
    },
  ],
  sum: [
    ['attribute', 'start'],
    (value, tools, attribute, start = 0n) => {
      let total = start;
      for (const item of counted(value, tools))
        total = calculate('+', total, getter(tools.budget, attribute)(item), tools.budget);
      return total;
    },
  ],
  unique: [
    ['case_sensitive', 'attribute'],
    (value, tools, isCaseSensitive, attribute) =>
      new Iteration(unique(value, tools, getter(tools.budget, attribute, !flag(isCaseSensitive)))),
  ],
  xmlattr: [
    ['autospace'],
    (value, { budget }, spaced) => {
      if (!(value instanceof Dict)) throw failure('xmlattr takes a mapping');
      const parts = [...value.entries()]
        .filter(([, one]) => one !== null && !(one instanceof Undefined))
        .map(([key, one]) => `${escaped(key, budget)}="${escaped(one, budget)}"`);
      return (flag(spaced, true) && parts.length > 0 ? ' ' : '') + parts.join(' ');
    },
  ],
};

/** Applies `map`: takes an attribute of each item, or applies a filter with its arguments. */
export function mapFilter(value: Value, { args, named }: Arguments, tools: FilterTools): Value {
  const attribute = named.get('attribute');
  const [name, ...rest] = args;
  if (attribute !== undefined && name === undefined) {
    const get = getter(tools.budget, attribute, false, named.get('default'));
    return new Iteration(mapped(value, tools, get));
  }
  if (name === undefined) throw failure('map requires a filter argument');
  return new Iteration(mapped(value, tools, (item) => tools.filter(text(name), item, { args: rest, named })));
}

/** Yields the changed items. As in Jinja, None and whatever else is false is an empty list. */
function* mapped(value: Value, tools: FilterTools, change: (item: Value) => Value): Generator<Value> {
  if (isTrue(value)) for (const item of counted(value, tools)) yield change(item);
}

/** Applies `select`, `reject`, `selectattr` and `rejectattr`. */
export function selectFilter(
  value: Value,
  { args, named }: Arguments,
  tools: FilterTools,
  keeps: boolean,
  hasAttribute: boolean,
): Value {
  const [name, ...rest] = hasAttribute ? args.slice(1) : args;
  const get = getter(tools.budget, hasAttribute ? needed(args[0]) : undefined);
  const fits = (item: Value): boolean =>
    name === undefined ? isTrue(get(item)) : tools.test(text(name), get(item), { args: rest, named });
  return new Iteration(selected(value, tools, (item) => fits(item) === keeps));
}

function* selected(value: Value, tools: FilterTools, fits: (item: Value) => boolean): Generator<Value> {
  if (isTrue(value)) for (const item of counted(value, tools)) if (fits(item)) yield item;
}

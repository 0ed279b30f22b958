import { bind, text } from './arguments.js';
import { onlyAttributeOf } from './attributes.js';
import { unsupported } from './errors.js';
import type { Filters, FilterTools } from './filter.js';
import { LIST_FILTERS, mapFilter, selectFilter } from './filters-lists.js';
import { NUMBER_FILTERS } from './filters-numbers.js';
import { formatFilter, TEXT_FILTERS } from './filters-texts.js';
import { asText, type Arguments, type Value } from './values.js';

const BOUND: Filters = {
  ...TEXT_FILTERS,
  ...LIST_FILTERS,
  ...NUMBER_FILTERS,
  attr: [['name'], (value, { budget }, name) => onlyAttributeOf(value, text(name), budget)],
};

/** Filters whose arguments are not bound to parameters: they are passed on. */
const OPEN: Readonly<Record<string, (value: Value, given: Arguments, tools: FilterTools) => Value>> = {
  format: (value, { args, named }, tools) => formatFilter(value, args, named, tools),
  map: mapFilter,
  select: (value, given, tools) => selectFilter(value, given, tools, true, false),
  reject: (value, given, tools) => selectFilter(value, given, tools, false, false),
  selectattr: (value, given, tools) => selectFilter(value, given, tools, true, true),
  rejectattr: (value, given, tools) => selectFilter(value, given, tools, false, true),
};

export function hasFilter(name: string): boolean {
  return Object.hasOwn(BOUND, name) || Object.hasOwn(OPEN, name);
}

/** @throws `unsupported` for a filter that is not known */
export function applyFilter(name: string, value: Value, given: Arguments, tools: FilterTools): Value {
  tools.budget.read(asText(value) ?? '');
  const result = run(name, value, given, tools);
  tools.budget.make(asText(result)?.length ?? 0);
  return result;
}

function run(name: string, value: Value, given: Arguments, tools: FilterTools): Value {
  if (Object.hasOwn(OPEN, name)) return OPEN[name]!(value, given, tools);
  if (!Object.hasOwn(BOUND, name)) throw unsupported(`the filter "${name}"`);
  const [names, filter] = BOUND[name]!;
  return filter(value, tools, ...bind(given, names, `the filter "${name}"`));
}

import { bind, text } from './arguments.js';
import { attributeOf } from './attributes.js';
import { unsupported } from './errors.js';
import type { Filters, FilterTools } from './filter.js';
import { LIST_FILTERS, mapFilter, selectFilter } from './filters-lists.js';
import { NUMBER_FILTERS } from './filters-numbers.js';
import { formatFilter, TEXT_FILTERS } from './filters-texts.js';
import type { Arguments, Value } from './values.js';

const BOUND: Filters = {
  ...TEXT_FILTERS,
  ...LIST_FILTERS,
  ...NUMBER_FILTERS,
  attr: [['name'], (value, _tools, name) => attributeOf(value, text(name))],
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
  if (Object.hasOwn(OPEN, name)) return OPEN[name]!(value, given, tools);
  if (!Object.hasOwn(BOUND, name)) throw unsupported(`the filter "${name}"`);
  const [names, run] = BOUND[name]!;
  return run(value, tools, ...bind(given, names, `the filter "${name}"`));
}

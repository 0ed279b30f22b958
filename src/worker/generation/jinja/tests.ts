/** Jinja's tests: what may follow `is`. */
import { needed } from './arguments.js';
import type { FilterTools } from './filter.js';
import { asNumber, compare, contains, isEqual, isSame, itemsOf, sizeOf } from './compare.js';
import { calculate } from './arithmetic.js';
import { failure, unsupported } from './errors.js';
import { hasFilter } from './filters.js';
import { toText } from './print.js';
import { hasCase } from './text-methods.js';
import { asText, Callable, Dict, Iteration, Markup, Undefined, View, type Arguments, type Value } from './values.js';

type Test = (value: Value, other: Value | undefined, tools: FilterTools) => boolean;

const ordered =
  (sign: string, fits: (order: number) => boolean): Test =>
  (value, other, { budget }) =>
    fits(compare(value, needed(other), budget, sign));

const divisible = (value: Value, by: Value, { budget }: FilterTools): Value => calculate('%', value, by, budget);

const equal: Test = (value, other, { budget }) => isEqual(value, needed(other), budget);
const unequal: Test = (value, other, { budget }) => !isEqual(value, needed(other), budget);
const less = ordered('<', (order) => order < 0);
const greater = ordered('>', (order) => order > 0);
const atMost = ordered('<=', (order) => order <= 0);
const atLeast = ordered('>=', (order) => order >= 0);

const TESTS: Readonly<Record<string, Test>> = {
  '==': equal,
  eq: equal,
  equalto: equal,
  '!=': unequal,
  ne: unequal,
  '<': less,
  lt: less,
  lessthan: less,
  '<=': atMost,
  le: atMost,
  '>': greater,
  gt: greater,
  greaterthan: greater,
  '>=': atLeast,
  ge: atLeast,
  boolean: (value) => typeof value === 'boolean',
  callable: (value) => value instanceof Callable || value instanceof Undefined,
  defined: (value) => !(value instanceof Undefined),
  divisibleby: (value, other, tools) => isEqual(divisible(value, needed(other), tools), 0n, tools.budget),
  escaped: (value) => value instanceof Markup,
  even: (value, _other, tools) => isEqual(divisible(value, 2n, tools), 0n, tools.budget),
  false: (value) => value === false,
  filter: (value) => hasFilter(asText(value) ?? ''),
  float: (value) => typeof value === 'number',
  in: (value, other, { budget }) => contains(needed(other), value, budget),
  integer: (value) => typeof value === 'bigint',
  iterable: (value) => itemsOf(value) !== undefined,
  lower: (value, _other, { budget }) => hasCase(toText(value, budget), false),
  mapping: (value) => value instanceof Dict,
  none: (value) => value === null,
  number: (value) => asNumber(value) !== undefined,
  odd: (value, _other, tools) => isEqual(divisible(value, 2n, tools), 1n, tools.budget),
  sameas: (value, other) => isSame(value, needed(other)),
  sequence: (value) => sizeOf(value) !== undefined && !(value instanceof View) && !(value instanceof Iteration),
  string: (value) => asText(value) !== undefined,
  test: (value) => Object.hasOwn(TESTS, asText(value) ?? ''),
  true: (value) => value === true,
  undefined: (value) => value instanceof Undefined,
  upper: (value, _other, { budget }) => hasCase(toText(value, budget), true),
};

/** @throws `unsupported` for a test that is not known */
export function applyTest(name: string, value: Value, { args, named }: Arguments, tools: FilterTools): boolean {
  if (!Object.hasOwn(TESTS, name)) throw unsupported(`the test "${name}"`);
  if (args.length + named.size > 1) throw failure(`the test "${name}" takes at most one argument`);
  tools.budget.read(asText(value) ?? '');
  return TESTS[name]!(value, args.length > 0 ? args[0] : [...named.values()][0], tools);
}

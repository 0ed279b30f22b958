import type { Budget } from './budget.js';
import type { Arguments, Value } from './values.js';

/** What a filter may use besides its arguments. */
export interface FilterTools {
  readonly budget: Budget;
  /** Applies a filter by its name. */
  readonly filter: (name: string, value: Value, given: Arguments) => Value;
  /** Applies a test by its name. */
  readonly test: (name: string, value: Value, given: Arguments) => boolean;
}

/** A filter: the names of its parameters after the value, and its function. */
export type Filter = readonly [
  names: readonly string[],
  run: (value: Value, tools: FilterTools, ...args: (Value | undefined)[]) => Value,
];

export type Filters = Readonly<Record<string, Filter>>;

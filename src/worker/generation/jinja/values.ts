/**
 * Python's values. None is null, a bool a boolean, an int a bigint, a float a number, a str a string, a list an array;
 * the others are classes here.
 */
import type { Budget } from './budget.js';
import { failure, TemplateError } from './errors.js';

export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Value[]
  | Dict
  | Undefined
  | Markup
  | Callable
  | Namespace
  | Iteration
  | View
  | Range;

/** The arguments of a call. */
export interface Arguments {
  readonly args: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

/** A tuple: a list that prints in other brackets. */
export class Tuple extends Array<Value> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  /** Makes a tuple. Unlike `Tuple.of`, takes one number as an item. */
  static with(items: Iterable<Value>): Tuple {
    const tuple = new this();
    for (const item of items) tuple.push(item);
    return tuple;
  }
}

/** What `groupby` gives for each group: what its items have in common (`grouper`), and the items (`list`). */
export class Group extends Tuple {}

/** A mapping. Keys that are equal in Python are one key. */
export class Dict {
  readonly #entries = new Map<string, [key: Value, value: Value]>();

  constructor(entries: Iterable<readonly [Value, Value]> = []) {
    for (const [key, value] of entries) this.set(key, value);
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: Value): boolean {
    return this.#entries.has(hashOf(key));
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(hashOf(key))?.[1];
  }

  set(key: Value, value: Value): void {
    const hash = hashOf(key);
    const entry = this.#entries.get(hash);
    if (entry) entry[1] = value;
    else this.#entries.set(hash, [key, value]);
  }

  *keys(): Generator<Value> {
    for (const [key] of this.#entries.values()) yield key;
  }

  *values(): Generator<Value> {
    for (const [, value] of this.#entries.values()) yield value;
  }

  entries(): IterableIterator<[Value, Value]> {
    return this.#entries.values();
  }
}

/** A name or a key that is not there. Only some uses of it are errors. */
export class Undefined {
  constructor(readonly message: string) {}

  /** Returns the error of using it. */
  get error(): Error {
    return failure(this.message);
  }
}

/** A text that is marked as safe: what is added to it is escaped for HTML. */
export class Markup {
  constructor(readonly text: string) {}
}

/** A function, a method or a macro. */
export class Callable {
  constructor(
    readonly name: string,
    readonly call: (given: Arguments, budget: Budget) => Value,
    /** What can be read of it, such as `loop.index`. */
    readonly attributes: (name: string) => Value | undefined = () => undefined,
  ) {}
}

/** What `namespace()` returns: its attributes can be set. */
export class Namespace {
  readonly attributes = new Map<string, Value>();
}

/** An iterator: it can be read once. */
export class Iteration implements Iterable<Value> {
  readonly #items: Iterator<Value>;

  constructor(items: Iterable<Value>) {
    this.#items = items[Symbol.iterator]();
  }

  [Symbol.iterator](): Iterator<Value> {
    // Without `return`: what a loop leaves is there for the next one.
    return { next: () => this.#items.next() };
  }
}

/** What `keys()`, `values()` and `items()` return. */
export class View implements Iterable<Value> {
  constructor(
    readonly kind: 'keys' | 'values' | 'items',
    readonly dict: Dict,
  ) {}

  *[Symbol.iterator](): Generator<Value> {
    if (this.kind === 'items') for (const entry of this.dict.entries()) yield Tuple.with(entry);
    else yield* this.dict[this.kind]();
  }
}

/** A range of integers. */
export class Range implements Iterable<Value> {
  readonly length: number;

  constructor(
    readonly start: bigint,
    readonly stop: bigint,
    readonly increment: bigint,
  ) {
    const span = increment > 0n ? stop - start : start - stop;
    const size = increment > 0n ? increment : -increment;
    this.length = span <= 0n ? 0 : Number((span + size - 1n) / size);
  }

  at(index: number): bigint {
    return this.start + BigInt(index) * this.increment;
  }

  *[Symbol.iterator](): Generator<Value> {
    for (let at = 0; at < this.length; at++) yield this.at(at);
  }
}

/** The longest key of a dict that is a tuple: a tuple may have another one twice and more. */
const MAX_TUPLE_KEY = 1_000_000;

/**
 * Returns what tells keys apart: 1, 1.0 and True are one key, and so are a text and its `Markup`.
 * @throws `runtime` for what is no key; `limit`
 */
function hashOf(key: Value): string {
  if (key instanceof Markup) return `s${key.text}`;
  if (key instanceof Tuple) {
    const hash = `t${JSON.stringify(key.map(hashOf))}`;
    if (hash.length <= MAX_TUPLE_KEY) return hash;
    throw new TemplateError('limit', `It has a key of more than ${MAX_TUPLE_KEY} characters.`);
  }
  switch (typeof key) {
    case 'string':
      return `s${key}`;
    case 'boolean':
      return key ? 'n1' : 'n0';
    case 'bigint':
    case 'number':
      return `n${key}`;
    default:
      if (key === null) return 'None';
      throw failure(`unhashable type: '${typeName(key)}'`);
  }
}

/** Returns Python's name of a value's type. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'string':
      return 'str';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'float';
    default:
  }
  if (value === null) return 'NoneType';
  if (value instanceof Tuple) return 'tuple';
  if (Array.isArray(value)) return 'list';
  if (value instanceof Dict) return 'dict';
  if (value instanceof View) return `dict_${value.kind}`;
  if (value instanceof Iteration) return 'generator';
  if (value instanceof Callable) return 'function';
  if (value instanceof Range) return 'range';
  return value instanceof Markup ? 'Markup' : value instanceof Namespace ? 'Namespace' : 'Undefined';
}

/** Returns a value if there is one. `??` would take None for none. */
export function orElse(value: Value | undefined, other: () => Value): Value {
  return value === undefined ? other() : value;
}

/** Returns a text's string; undefined for what is no text. */
export function asText(value: Value | undefined): string | undefined {
  return typeof value === 'string' ? value : value instanceof Markup ? value.text : undefined;
}

/** Returns a value of JSON, or of what else a message may have, as Python's. A number without fraction is an int. */
export function toPython(value: unknown): Value {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean' || typeof value === 'string' || typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (value instanceof Callable) return value;
  if (Array.isArray(value)) return value.map(toPython);
  if (typeof value !== 'object') return String(value);
  return new Dict(
    Object.entries(value).flatMap(([key, one]) => (one === undefined ? [] : [[key, toPython(one)] as const])),
  );
}

import { failure } from './errors.js';
import { asNumber, isTrue } from './compare.js';
import { asText, Callable, typeName, Undefined, type Arguments, type Value } from './values.js';

/**
 * Returns the arguments of a call in the order of their names; undefined for one that is not given.
 * @throws `runtime` for too many, or for an unknown name
 */
export function bind(given: Arguments, names: readonly string[], callee: string): (Value | undefined)[] {
  const found: (Value | undefined)[] = [...given.args];
  if (found.length > names.length)
    throw failure(`${callee} takes at most ${names.length} arguments, and ${found.length} were given`);
  for (const [name, value] of given.named) {
    const at = names.indexOf(name);
    if (at < 0 || at < given.args.length) throw failure(`${callee} got an unexpected argument '${name}'`);
    found[at] = value;
  }
  return found;
}

/** Makes a function with positional arguments, some of which may be left out. */
export function callable(
  name: string,
  names: readonly string[],
  call: (...args: (Value | undefined)[]) => Value,
): Callable {
  return new Callable(name, (given) => call(...bind(given, names, `${name}()`)));
}

/** Returns an argument that must be an integer. */
export function integer(value: Value | undefined, byDefault?: number): number {
  if (value === undefined && byDefault !== undefined) return byDefault;
  const number = value === undefined ? undefined : asNumber(value);
  if (typeof number === 'bigint') return Number(number);
  if (value instanceof Undefined) throw value.error;
  throw failure(
    `'${value === undefined ? 'missing argument' : typeName(value)}' object cannot be interpreted as an integer`,
  );
}

/** Returns an argument that must be a text. */
export function text(value: Value | undefined, byDefault?: string): string {
  if (value === undefined && byDefault !== undefined) return byDefault;
  const found = asText(value);
  if (found !== undefined) return found;
  if (value instanceof Undefined) throw value.error;
  throw failure(`expected str, got ${value === undefined ? 'no argument' : typeName(value)}`);
}

export function flag(value: Value | undefined, byDefault = false): boolean {
  return value === undefined ? byDefault : isTrue(value);
}

/** Returns an argument that must be given. */
export function needed(value: Value | undefined): Value {
  if (value === undefined) throw failure('an argument is missing');
  return value;
}

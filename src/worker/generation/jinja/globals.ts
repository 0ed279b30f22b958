/** The functions that every template may call: Jinja's, and those that transformers adds. */
import { bind, callable, integer, needed, text } from './arguments.js';
import type { Budget } from './budget.js';
import { iterate } from './compare.js';
import { failure, TemplateError } from './errors.js';
import { strftime } from './strftime.js';
import { Callable, Dict, Namespace, Range, type Value } from './values.js';
import { toText } from './print.js';

/** The sandbox allows no longer ranges. */
const MAX_RANGE = 100_000;

/** Returns the entries of a mapping, or of a list of pairs. */
function* entriesOf(value: Value, budget: Budget): Generator<readonly [Value, Value]> {
  const pairs = value instanceof Dict ? value.entries() : iterate(value);
  for (const pair of pairs) {
    budget.step();
    const [key, item] = iterate(pair);
    yield [needed(key), needed(item)];
  }
}

/** @param now the time, for `strftime_now` */
export function createGlobals(now: () => Date): ReadonlyMap<string, Value> {
  const functions = [
    callable('range', ['start', 'stop', 'step'], (first, second, third) => {
      const [start, stop] = second === undefined ? [0, integer(first)] : [integer(first), integer(second)];
      const step = integer(third, 1);
      if (step === 0) throw failure('range() arg 3 must not be zero');
      const range = new Range(BigInt(start), BigInt(stop), BigInt(step));
      if (range.length > MAX_RANGE) throw failure(`Range too big. The sandbox blocks ranges larger than ${MAX_RANGE}.`);
      return range;
    }),
    new Callable(
      'dict',
      ({ args, named }, budget) => new Dict([...(args[0] === undefined ? [] : entriesOf(args[0], budget)), ...named]),
    ),
    new Callable('namespace', ({ args, named }, budget) => {
      const made = new Namespace();
      for (const [key, value] of args[0] === undefined ? [] : entriesOf(args[0], budget))
        made.attributes.set(text(key), value);
      for (const [key, value] of named) made.attributes.set(key, value);
      return made;
    }),
    new Callable('cycler', ({ args }) => {
      if (args.length === 0) throw failure('at least one item has to be provided');
      return cycler(args);
    }),
    new Callable('joiner', (given) => {
      const [separator = ', '] = bind(given, ['sep'], 'joiner()');
      let isUsed = false;
      return new Callable('joiner', () => {
        const result = isUsed ? separator : '';
        isUsed = true;
        return result;
      });
    }),
    new Callable('raise_exception', (given, budget) => {
      const [message] = bind(given, ['message'], 'raise_exception()');
      throw new TemplateError('raised', toText(needed(message), budget));
    }),
    new Callable('strftime_now', (given, budget) => {
      const [format] = bind(given, ['format'], 'strftime_now()');
      return strftime(now(), text(format), budget);
    }),
    // The template's blocks by their names: there are none, because the parser refuses a template that has some.
    new Callable('self', () => {
      throw failure("'TemplateReference' object is not callable");
    }),
  ];
  return new Map(functions.map((one) => [one.name, one]));
}

function cycler(items: readonly Value[]): Callable {
  let at = 0;
  const methods: Readonly<Record<string, () => Value>> = {
    next: () => items[at++ % items.length]!,
    reset: () => ((at = 0), null),
  };
  return new Callable(
    'cycler',
    () => {
      throw failure("'Cycler' object is not callable");
    },
    (name) =>
      name === 'current'
        ? items[at % items.length]
        : Object.hasOwn(methods, name)
          ? callable(name, [], methods[name]!)
          : undefined,
  );
}

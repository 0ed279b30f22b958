/** What `value.name`, `value[key]` and `value[a:b]` are. */
import { bind, callable, integer, needed } from './arguments.js';
import type { Budget } from './budget.js';
import { asNumber, isEqual, iterate } from './compare.js';
import { failure, unsupported } from './errors.js';
import { formatBraces } from './format.js';
import { represent, toText } from './print.js';
import { textMethod } from './text-methods.js';
import {
  asText,
  Callable,
  Dict,
  Group,
  Markup,
  Namespace,
  orElse,
  Range,
  Tuple,
  typeName,
  Undefined,
  View,
  type Arguments,
  type Value,
} from './values.js';

const OF_TEXTS = 'encode format_map maketrans translate';
const OF_INTEGERS =
  'as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag is_integer numerator real to_bytes';
/** Attributes of Python's values that are not here, by type. */
const UNKNOWN: Readonly<Record<string, string>> = {
  str: OF_TEXTS,
  Markup: OF_TEXTS,
  int: OF_INTEGERS,
  bool: OF_INTEGERS,
  float: 'as_integer_ratio conjugate fromhex hex imag is_integer real',
  dict: 'fromkeys',
  range: 'count index start step stop',
  dict_keys: 'isdisjoint mapping',
  dict_values: 'mapping',
  dict_items: 'isdisjoint mapping',
};
/** Methods that change their value: a sandbox does not allow them. */
const CHANGING = new Set([
  'append',
  'clear',
  'extend',
  'insert',
  'pop',
  'popitem',
  'remove',
  'reverse',
  'setdefault',
  'sort',
  'update',
]);

/** Returns `value.name`: an attribute, or else an item. */
export function attributeOf(value: Value, name: string, budget: Budget): Value {
  return orElse(ownAttribute(value, name), () =>
    orElse(ownItem(value, name, budget), () => missing(value, name, budget)),
  );
}

/** Returns `value[key]`: an item, or else an attribute. */
export function itemOf(value: Value, key: Value, budget: Budget): Value {
  const name = asText(key);
  return orElse(ownItem(value, key, budget), () => {
    const attribute = name === undefined ? undefined : ownAttribute(value, name);
    return orElse(attribute, () => missing(value, key, budget));
  });
}

function missing(value: Value, key: Value, budget: Budget): Undefined {
  if (value instanceof Undefined) throw value.error;
  const owner = value === null ? 'None' : `${typeName(value)} object`;
  return new Undefined(
    asText(key) === undefined
      ? `${owner} has no element ${represent(key, budget)}`
      : `'${owner}' has no attribute '${asText(key)}'`,
  );
}

/** Returns `value|attr(name)`: an attribute, and never an item. */
export function onlyAttributeOf(value: Value, name: string, budget: Budget): Value {
  return orElse(ownAttribute(value, name), () => missing(value, name, budget));
}

function ownAttribute(value: Value, name: string): Value | undefined {
  if (value instanceof Undefined) throw value.error;
  const type = typeName(value);
  if (UNKNOWN[type]?.split(' ').includes(name)) throw unsupported(`the attribute "${name}" of ${type}`);
  if (value instanceof Callable) return value.attributes(name);
  if (value instanceof Namespace) return value.attributes.get(name);
  if (typeof value === 'string' || value instanceof Markup) return textAttribute(value, name);
  if (value instanceof Dict) return dictAttribute(value, name);
  return Array.isArray(value) ? listAttribute(value, name) : undefined;
}

function textAttribute(value: string | Markup, name: string): Value | undefined {
  const method = textMethod(value, name);
  if (method) return new Callable(name, method);
  if (name !== 'format') return undefined;
  return new Callable(name, (given, budget) => {
    const look = (from: Value, key: string, isItem: boolean): Value => {
      const found = isItem
        ? itemOf(from, /^\d+$/.test(key) ? BigInt(key) : key, budget)
        : attributeOf(from, key, budget);
      if (found instanceof Undefined) throw found.error;
      return found;
    };
    const text = formatBraces(toText(value, budget), given, look, budget, value instanceof Markup);
    return value instanceof Markup ? new Markup(text) : text;
  });
}

/** Returns a method that cannot be called: it is as if it were not there, but says why. */
function forbidden(name: string, type: string): Undefined {
  return new Undefined(`access to attribute '${name}' of '${type}' object is unsafe.`);
}

function dictAttribute(value: Dict, name: string): Value | undefined {
  switch (name) {
    case 'keys':
    case 'values':
    case 'items':
      return callable(name, [], () => new View(name, value));
    case 'get':
      return callable(name, ['key', 'default'], (key, byDefault = null) =>
        orElse(value.get(needed(key)), () => byDefault),
      );
    case 'copy':
      return new Callable(name, (given, budget) => {
        bind(given, [], 'copy()');
        budget.make(value.size);
        return new Dict(value.entries());
      });
    default:
      return ['clear', 'pop', 'popitem', 'setdefault', 'update'].includes(name) ? forbidden(name, 'dict') : undefined;
  }
}

function listAttribute(value: Value[], name: string): Value | undefined {
  if (value instanceof Group && (name === 'grouper' || name === 'list')) return value[name === 'list' ? 1 : 0];
  switch (name) {
    case 'count':
      return new Callable(name, (given, budget) => {
        const [item] = bind(given, ['value'], 'count()');
        return BigInt(value.filter((one) => isEqual(one, needed(item), budget)).length);
      });
    case 'index':
      return new Callable(name, (given, budget) => {
        const [item] = bind(given, ['value'], 'index()');
        const at = value.findIndex((one) => isEqual(one, needed(item), budget));
        if (at < 0) throw failure(`${represent(needed(item), budget)} is not in list`);
        return BigInt(at);
      });
    case 'copy':
      return value instanceof Tuple
        ? undefined
        : new Callable(name, (given, budget) => {
            bind(given, [], 'copy()');
            budget.make(value.length);
            return [...value];
          });
    default:
      return CHANGING.has(name) && !(value instanceof Tuple) && !['popitem', 'setdefault', 'update'].includes(name)
        ? forbidden(name, 'list')
        : undefined;
  }
}

function ownItem(value: Value, key: Value, budget: Budget): Value | undefined {
  if (value instanceof Undefined) throw value.error;
  if (value instanceof Dict) return isHashable(key) ? value.get(key) : undefined;
  const at = asNumber(key);
  if (typeof at !== 'bigint') return undefined;
  const text = asText(value);
  if (text !== undefined) {
    budget.read(text);
    const character = at >= 0n && !/[\ud800-\udfff]/.test(text) ? text[Number(at)] : [...text].at(Number(at));
    return character !== undefined && value instanceof Markup ? new Markup(character) : character;
  }
  if (Array.isArray(value)) return value.at(Number(at));
  if (!(value instanceof Range)) return undefined;
  const index = at < 0n ? Number(at) + value.length : Number(at);
  return index >= 0 && index < value.length ? value.at(index) : undefined;
}

function isHashable(key: Value): boolean {
  if (key instanceof Tuple) return key.every(isHashable);
  return key === null || typeof key !== 'object' || key instanceof Markup;
}

/** Returns `value[start:stop:step]`. @throws `runtime` for what has no slices */
export function sliceOf(value: Value, parts: readonly (Value | undefined)[], budget: Budget): Value {
  if (value instanceof Undefined) throw value.error;
  const [start, stop, step = 1] = parts.map((part) =>
    part === undefined || part === null ? undefined : integer(part),
  );
  if (step === 0) throw failure('slice step cannot be zero');
  const text = asText(value);
  if (text === undefined && !Array.isArray(value) && !(value instanceof Range))
    throw failure(`'${typeName(value)}' object is not subscriptable`);
  const items = text === undefined ? [...iterate(value)] : [...text];
  budget.make(items.length);
  const { length } = items;
  const clamp = (at: number | undefined, byDefault: number): number => {
    if (at === undefined) return byDefault;
    const own = at < 0 ? at + length : at;
    return step > 0 ? Math.min(length, Math.max(0, own)) : Math.min(length - 1, Math.max(-1, own));
  };
  const [from, to] = [clamp(start, step > 0 ? 0 : length - 1), clamp(stop, step > 0 ? length : -1)];
  const found: Value[] = [];
  for (let at = from; step > 0 ? at < to : at > to; at += step) found.push(items[at]!);
  if (text !== undefined) return value instanceof Markup ? new Markup(found.join('')) : found.join('');
  return value instanceof Tuple ? Tuple.with(found) : found;
}

/** Calls a value. @throws `runtime` for what cannot be called */
export function callValue(value: Value, given: Arguments, budget: Budget): Value {
  if (value instanceof Undefined) throw value.error;
  if (!(value instanceof Callable)) throw failure(`'${typeName(value)}' object is not callable`);
  return budget.nested(() => value.call(given, budget));
}

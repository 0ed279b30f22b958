/** Python's `str`, `repr` and `json.dumps`. */
import type { Budget } from './budget.js';
import { escapeHtml } from './characters.js';
import { compare } from './compare.js';
import { failure } from './errors.js';
import {
  Callable,
  Dict,
  Iteration,
  Markup,
  Namespace,
  Range,
  Tuple,
  typeName,
  Undefined,
  View,
  type Value,
} from './values.js';

/** Returns `str(value)`. @throws `limit`: lists that have one another twice and more are printed as often as they are reached */
export function toText(value: Value, budget: Budget): string {
  if (typeof value === 'string') return value;
  if (value instanceof Markup) return value.text;
  return value instanceof Undefined ? '' : represent(value, budget);
}

/** Returns a text that is escaped for HTML, unless it is marked as safe. */
export function escaped(value: Value, budget: Budget): string {
  return value instanceof Markup ? value.text : escapeHtml(toText(value, budget));
}

/** Returns `repr(value)`. @throws `limit` */
export function represent(value: Value, budget: Budget): string {
  const print = (one: Value): string => represent(one, budget);
  const printDict = (entries: Iterable<readonly [Value, Value]>): string =>
    `{${[...entries].map(([key, one]) => `${print(key)}: ${print(one)}`).join(', ')}}`;
  budget.step();
  switch (typeof value) {
    case 'string':
      budget.read(value);
      return quoted(value);
    case 'boolean':
      return value ? 'True' : 'False';
    case 'bigint':
      return value.toString();
    case 'number':
      return printFloat(value);
    default:
  }
  if (value === null) return 'None';
  if (value instanceof Tuple) return `(${value.map(print).join(', ')}${value.length === 1 ? ',' : ''})`;
  if (Array.isArray(value)) return `[${value.map(print).join(', ')}]`;
  if (value instanceof Dict) return printDict(value.entries());
  if (value instanceof View) return `dict_${value.kind}(${print([...value])})`;
  if (value instanceof Markup) return `Markup(${quoted(value.text)})`;
  if (value instanceof Undefined) return 'Undefined';
  if (value instanceof Namespace) return `<Namespace ${printDict(value.attributes)}>`;
  if (value instanceof Range)
    return `range(${value.start}, ${value.stop}${value.increment === 1n ? '' : `, ${value.increment}`})`;
  return `<${typeName(value)}${value instanceof Callable ? ` ${value.name}` : value instanceof Iteration ? ' object' : ''}>`;
}

/** Returns `repr` of a float: the shortest digits that are read as it. */
export function printFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    const [digits, exponent] = value.toExponential().split('e') as [string, string];
    return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
  }
  const text = String(value);
  return Number.isInteger(value) ? `${text}.0` : text;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  // Python prints what is no letter, number, mark, sign or space as its code.
  const inner = text.replace(/[\\'"]|(?! )[\p{C}\p{Z}]/gu, (character) => {
    if (character === '"' || character === "'") return character === quote ? `\\${character}` : character;
    return ESCAPES[character] ?? codeOf(character);
  });
  return quote + inner + quote;
}

/** Returns a character's code, as Python writes it in a text. */
export function codeOf(character: string): string {
  const code = character.codePointAt(0)!;
  const [letter, length] = code < 0x100 ? ['x', 2] : code < 0x10000 ? ['u', 4] : ['U', 8];
  return `\\${letter}${code.toString(16).padStart(length as number, '0')}`;
}

/** The options of `tojson`, as transformers has it. */
interface JsonOptions {
  readonly ensuresAscii: boolean;
  readonly indent: string | undefined;
  readonly separators: readonly [item: string, key: string];
  readonly sortsKeys: boolean;
}

/** Returns `json.dumps(value)`. */
export function toJson(value: Value, options: JsonOptions, budget: Budget, margin = '\n'): string {
  const { indent, separators, sortsKeys } = options;
  budget.step();
  const text = value instanceof Markup ? value.text : value;
  if (typeof text === 'string') {
    budget.read(text);
    return jsonText(text, options.ensuresAscii);
  }
  if (value === null) return 'null';
  if (typeof value === 'boolean' || typeof value === 'bigint' || typeof value === 'number') return jsonNumber(value);
  const inner = indent === undefined ? '' : margin + indent;
  const wrap = (open: string, parts: readonly string[], close: string): string => {
    if (parts.length === 0) return open + close;
    budget.make(parts.length * (inner.length + separators[0].length));
    return open + inner + parts.join(separators[0] + inner) + (indent === undefined ? '' : margin) + close;
  };
  const print = (one: Value): string => toJson(one, options, budget, inner);
  if (Array.isArray(value)) return wrap('[', value.map(print), ']');
  if (!(value instanceof Dict)) throw failure(`Object of type ${typeName(value)} is not JSON serializable`);
  const entries = [...value.entries()];
  if (sortsKeys) entries.sort(([a], [b]) => compare(a, b, budget));
  const keyOf = (key: Value): string => {
    if (typeof key === 'string' || key instanceof Markup) return toText(key, budget);
    if (key === null) return 'null';
    if (typeof key !== 'object') return jsonNumber(key);
    throw failure(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
  };
  const parts = entries.map(([key, one]) => jsonText(keyOf(key), options.ensuresAscii) + separators[1] + print(one));
  return wrap('{', parts, '}');
}

function jsonNumber(value: boolean | bigint | number): string {
  if (typeof value !== 'number') return String(value);
  if (Number.isFinite(value)) return printFloat(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}

function jsonText(text: string, ensuresAscii: boolean): string {
  // JSON.stringify escapes as Python does, and lone surrogates besides, which Python leaves.
  const json = JSON.stringify(text).replace(/\\ud[89a-f][\da-f]{2}/g, (code, at: number, all: string) =>
    isEscaped(all, at) ? code : String.fromCharCode(Number.parseInt(code.slice(2), 16)),
  );
  if (!ensuresAscii) return json;
  return json.replace(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns whether a backslash is itself escaped by the one before it. */
function isEscaped(text: string, at: number): boolean {
  let count = 0;
  while (text[at - 1 - count] === '\\') count += 1;
  return count % 2 === 1;
}

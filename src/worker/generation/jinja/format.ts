/** Python's `'…' % values` and `'…'.format(values)`. */
import type { Budget } from './budget.js';
import { asNumber, lengthOfText } from './compare.js';
import { failure, unsupported } from './errors.js';
import { codeOf, escaped, printFloat, represent, toText } from './print.js';
import { toExponential, toFixed } from './round.js';
import { Dict, Markup, Tuple, typeName, Undefined, type Arguments, type Value } from './values.js';

const CONVERSION = /%(?:\(([^)]*)\))?([-+ #0]*)(\d+|\*)?(?:\.(\d+|\*))?[hlL]?([^])/g;

/** Returns `template % values`. */
export function formatPercent(template: string | Markup, values: Value, budget: Budget): Value {
  const isMarkup = template instanceof Markup;
  const queue = values instanceof Tuple ? [...values] : [values];
  let used = 0;
  const next = (name: string | undefined): Value => {
    if (name !== undefined) {
      const found = values instanceof Dict ? values.get(name) : undefined;
      if (found === undefined)
        throw failure(values instanceof Dict ? `KeyError: '${name}'` : 'format requires a mapping');
      used = queue.length;
      return found;
    }
    if (used === queue.length) throw failure('not enough arguments for format string');
    return queue[used++]!;
  };
  const own = isMarkup ? template.text : template;
  budget.step(own.length);
  const text = own.replace(
    CONVERSION,
    (
      _all,
      name: string | undefined,
      flags: string,
      width: string | undefined,
      precision: string | undefined,
      type: string,
    ) => {
      if (type === '%') return '%';
      const count = (size: string | undefined): number | undefined =>
        size === undefined ? undefined : size === '*' ? Number(asNumber(next(undefined))) : Number(size);
      const [wide, precise] = [count(width) ?? 0, count(precision)];
      budget.make(wide + (precise ?? 0));
      const value = next(name);
      const isNumber = !['s', 'r', 'a', 'c'].includes(type);
      const body = isNumber
        ? withSign(printNumber(value, type, precise, flags.includes('#')), flags)
        : printed(value, type, precise, isMarkup, budget);
      if (flags.includes('-')) return pad(body, wide, '<', ' ');
      return isNumber && flags.includes('0') ? pad(body, wide, '=', '0') : pad(body, wide, '>', ' ');
    },
  );
  // As in Python, whatever has items counts as a mapping, of which not all is needed.
  const isMapping =
    values instanceof Tuple ? false : Array.isArray(values) || values instanceof Dict || values instanceof Undefined;
  if (used < queue.length && !isMapping) throw failure('not all arguments converted during string formatting');
  budget.make(text.length);
  return isMarkup ? new Markup(text) : text;
}

function printed(value: Value, type: string, precision: number | undefined, escapes: boolean, budget: Budget): string {
  if (type === 'c') return typeof value === 'bigint' ? String.fromCodePoint(Number(value)) : toText(value, budget);
  const text = type === 's' && escapes ? escaped(value, budget) : converted(value, type, budget);
  return precision === undefined ? text : [...text].slice(0, precision).join('');
}

/** Returns a text as `str`, `repr` or `ascii` gives it. @param type `s`, `r` or `a` */
function converted(value: Value, type: string, budget: Budget): string {
  if (type === 's') return toText(value, budget);
  const text = represent(value, budget);
  return type === 'a' ? text.replace(/[^\0-\x7f]/gu, codeOf) : text;
}

function withSign(text: string, flags: string): string {
  if (text.startsWith('-')) return text;
  return (flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '') + text;
}

/** Prints a number: `d`, `x`, `f`, `e`, `g` and their like. */
function printNumber(value: Value, type: string, precision: number | undefined, showsBase = false): string {
  if (value instanceof Undefined) throw value.error;
  const number = asNumber(value);
  if (number === undefined) throw failure(`%${type} format: a number is required, not ${typeName(value)}`);
  const bases: Readonly<Record<string, readonly [number, string]>> = {
    d: [10, ''],
    i: [10, ''],
    u: [10, ''],
    x: [16, '0x'],
    X: [16, '0X'],
    o: [8, '0o'],
    b: [2, '0b'],
  };
  const base = bases[type];
  if (base) {
    const int = typeof number === 'bigint' ? number : BigInt(Math.trunc(number));
    const digits = (int < 0n ? -int : int).toString(base[0]).padStart(precision ?? 0, '0');
    const text = (int < 0n ? '-' : '') + (showsBase ? base[1] : '') + digits;
    return type === 'X' ? text.toUpperCase() : text;
  }
  const float = Number(number);
  const digits = Math.min(precision ?? 6, 100);
  if (!Number.isFinite(float)) return cased(printFloat(float), type) + (type === '%' ? '%' : '');
  switch (type.toLowerCase()) {
    case 'f':
      return fixed(float, digits);
    case 'e':
      return cased(exponent(toExponential(float, digits)), type);
    case 'g':
      return cased(general(float, digits, showsBase), type);
    case '%':
      return `${fixed(float * 100, digits)}%`;
    default:
      throw failure(`unsupported format character '${type}'`);
  }
}

/** Returns a number with this many decimals. Ties are rounded by the exact value, as in Python. */
function fixed(value: number, digits: number): string {
  const text = toFixed(value, digits);
  if (text.includes('e')) return BigInt(value).toString() + (digits > 0 ? `.${'0'.repeat(digits)}` : '');
  return text;
}

function cased(text: string, type: string): string {
  return type === type.toUpperCase() ? text.toUpperCase() : text;
}

function exponent(text: string): string {
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

function general(value: number, digits: number, keepsZeros: boolean): string {
  const significant = Math.max(1, digits);
  const [mantissa, power] = toExponential(value, significant - 1).split('e') as [string, string];
  const trim = (text: string): string => (keepsZeros || !text.includes('.') ? text : text.replace(/\.?0+$/, ''));
  if (Number(power) < -4 || Number(power) >= significant) return exponent(`${trim(mantissa)}e${power}`);
  return trim(toFixed(value, Math.max(0, significant - 1 - Number(power))));
}

function pad(text: string, width: number, align: string, fill: string): string {
  const missing = width - lengthOfText(text);
  if (missing <= 0) return text;
  if (align === '<') return text + fill.repeat(missing);
  if (align === '^') return fill.repeat(missing >> 1) + text + fill.repeat(missing - (missing >> 1));
  const sign = align === '=' ? (/^[-+ ]?(?:0[xXob])?/.exec(text)?.[0] ?? '') : '';
  return sign + fill.repeat(missing) + text.slice(sign.length);
}

const FIELD = /\{\{|\}\}|\{([^{}!:]*)(?:!([rsa]))?(?::((?:[^{}]|\{[^{}]*\})*))?\}|[{}]/g;

/**
 * Returns `template.format(…)`.
 * @param look reads an attribute or an item of a value
 */
export function formatBraces(
  template: string,
  { args, named }: Arguments,
  look: (value: Value, key: string, isItem: boolean) => Value,
  budget: Budget,
  escapes: boolean,
): string {
  let automatic = 0;
  const valueOf = (path: string): Value => {
    const [, first = '', rest = ''] = /^([^.[]*)(.*)$/s.exec(path) ?? [];
    if (first === '' ? automatic < 0 : /^\d/.test(first) && automatic > 0)
      throw failure('cannot switch between automatic field numbering and manual field specification');
    if (/^\d/.test(first)) automatic = -1;
    const key = first === '' ? String(automatic++) : first;
    let value = /^\d+$/.test(key) ? args[Number(key)] : named.get(key);
    if (value === undefined) throw failure(`format: there is no argument '${key}'`);
    for (const [, attribute, item] of rest.matchAll(/\.([^.[]+)|\[([^\]]+)\]/g))
      value = look(value, attribute ?? item!, attribute === undefined);
    return value;
  };
  budget.step(template.length);
  const text = template.replace(FIELD, (all, path: string | undefined, conversion: string | undefined, spec = '') => {
    if (path === undefined) {
      if (all.length === 2) return all[0]!;
      throw failure(`Single '${all}' encountered in format string`);
    }
    const value = valueOf(path);
    const own = (spec as string).replace(/\{([^{}]*)\}/g, (_: string, inner: string) => toText(valueOf(inner), budget));
    const shown = conversion === undefined ? value : converted(value, conversion, budget);
    const result = formatSpec(shown, own, budget);
    return escapes && !(value instanceof Markup) ? escaped(result, budget) : result;
  });
  budget.make(text.length);
  return text;
}

const SPEC = /^(?:([^])?([<>=^]))?([-+ ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/u;

/** Returns `format(value, spec)`. */
function formatSpec(value: Value, spec: string, budget: Budget): string {
  if (spec === '') return toText(value, budget);
  const match = SPEC.exec(spec);
  if (!match) throw failure(`Invalid format specifier '${spec}'`);
  const [, fill, align, sign = '', alternate, zero, width = '0', group, precision, type] = match;
  budget.make(Number(width) + Number(precision ?? 0));
  const number = asNumber(value);
  const [isText, isInteger] = [number === undefined, typeof number === 'bigint'];
  if (isText && typeof value === 'object' && !(value instanceof Markup)) throw wrongSpec(value, spec);
  const isOfIntegers = isInteger && (type === undefined || 'bcdnoxX'.includes(type));
  const types = isText ? 's' : isInteger ? 'bcdeEfFgGnoxX%' : 'eEfFgGn%';
  if (type !== undefined && !types.includes(type)) throw wrongSpec(value, spec);
  if (isText ? sign !== '' || align === '=' || group !== undefined : isOfIntegers && precision !== undefined)
    throw wrongSpec(value, spec);
  if (group !== undefined && (zero !== undefined || 'boxX'.includes(type ?? '-')))
    throw unsupported(`the format "${spec}"`);
  let body: string;
  if (isText) body = printed(value, 's', precision === undefined ? undefined : Number(precision), false, budget);
  else if (type === undefined && isInteger) body = printNumber(value, 'd', undefined);
  else if (type === undefined && precision === undefined) body = printFloat(Number(number));
  else if (type === 'c' || type === 'n') throw unsupported(`the format "${spec}"`);
  else
    body = printNumber(
      value,
      type ?? 'g',
      precision === undefined ? undefined : Number(precision),
      alternate !== undefined,
    );
  if (group !== undefined)
    body = body.replace(
      /^(-?)(\d+)/,
      (_, minus: string, digits: string) => minus + digits.replace(/\B(?=(\d{3})+$)/g, group),
    );
  if (!isText) body = withSign(body, sign);
  const padding = align ?? (zero !== undefined && !isText ? '=' : isText ? '<' : '>');
  return pad(body, Number(width), padding, fill ?? (zero === undefined ? ' ' : '0'));
}

function wrongSpec(value: Value, spec: string): Error {
  return failure(`the format '${spec}' is none of ${typeName(value)}`);
}

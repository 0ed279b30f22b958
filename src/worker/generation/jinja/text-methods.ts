/** The methods of `str`. */
import type { Budget } from './budget.js';
import { bind, flag, integer, text } from './arguments.js';
import { isSpace, SPACE, splitLines, stripEnds } from './characters.js';
import { iterate, lengthOfText } from './compare.js';
import { failure } from './errors.js';
import { escaped } from './print.js';
import { asText, Markup, Tuple, typeName, type Arguments, type Value } from './values.js';

/** What a method gets: its text, and its arguments by position. Of a `Markup`, texts that come in are escaped. */
interface Receiver {
  readonly own: string;
  readonly budget: Budget;
  readonly insert: (value: Value | undefined) => string;
}
type Method = readonly [names: readonly string[], run: (self: Receiver, ...args: (Value | undefined)[]) => Value];

const CHARS = ['chars'] as const;

/** Returns a text without characters at its ends: those of a text, or else spaces. */
export function strip(own: string, chars: Value | undefined, sides: 'both' | 'left' | 'right' = 'both'): string {
  if (chars === undefined || chars === null) return stripEnds(own, isSpace, sides);
  const set = new Set(text(chars));
  return stripEnds([...own], (character) => set.has(character), sides).join('');
}

const strips =
  (sides: 'both' | 'left' | 'right'): Method[1] =>
  ({ own }, chars) =>
    strip(own, chars, sides);

const pads =
  (left: (missing: number, width: number) => number): Method[1] =>
  ({ own, budget, insert }, width, fill) => {
    const [wide, character] = [integer(width), fill === undefined ? ' ' : insert(fill)];
    const missing = Math.max(0, wide - lengthOfText(own));
    budget.make(missing);
    const before = left(missing, wide);
    return character.repeat(before) + own + character.repeat(missing - before);
  };

/** Returns whether each character is of a class, and there is one. */
const each = (pattern: string): Method => {
  const all = new RegExp(`^(?:${pattern})+$`, 'u');
  return [[], ({ own }) => all.test(own)];
};

/** Returns a part of a text, and what is before it; undefined for one that ends before it starts: not even '' is in it. */
function partOf(own: string, start: Value | undefined, end: Value | undefined): readonly [string, string] | undefined {
  if (start === undefined && end === undefined) return ['', own];
  const characters = [...own];
  const [from, to] = [offset(start, characters.length, 0), offset(end, characters.length, characters.length)];
  if (from > Math.min(to, characters.length)) return undefined;
  return [characters.slice(0, from).join(''), characters.slice(from, to).join('')];
}

const ends =
  (test: (own: string, part: string) => boolean): Method[1] =>
  ({ own }, part, start, end) => {
    const within = partOf(own, start, end);
    return (part instanceof Tuple ? part : [part]).some(
      (one) => test(within?.[1] ?? '', text(one)) && within !== undefined,
    );
  };

/** Returns the position of a part in characters, or −1. */
const finds =
  (last: boolean, fails: boolean): Method[1] =>
  ({ own }, part, start, end) => {
    const [before, within] = partOf(own, start, end) ?? ['', undefined];
    const at = (last ? within?.lastIndexOf(text(part)) : within?.indexOf(text(part))) ?? -1;
    return found(at < 0 ? at : before.length + at, own, fails);
  };

/** Returns a position in UTF-16 units as one in characters. @param at −1 if nothing was found */
function found(at: number, own: string, fails: boolean): bigint {
  if (at < 0 && fails) throw failure('substring not found');
  return at < 0 ? -1n : BigInt(lengthOfText(own.slice(0, at)));
}

function offset(value: Value | undefined, length: number, byDefault: number): number {
  if (value === undefined || value === null) return byDefault;
  const at = integer(value);
  return Math.max(0, at < 0 ? at + length : at);
}

const partition =
  (last: boolean): Method[1] =>
  ({ own, insert }, separator) => {
    const mark = insert(separator);
    if (mark === '') throw failure('empty separator');
    const at = last ? own.lastIndexOf(mark) : own.indexOf(mark);
    if (at < 0) return Tuple.with(last ? ['', '', own] : [own, '', '']);
    return Tuple.with([own.slice(0, at), mark, own.slice(at + mark.length)]);
  };

function count(own: string, part: string): number {
  if (part === '') return lengthOfText(own) + 1;
  let found = 0;
  for (let at = own.indexOf(part); at >= 0; at = own.indexOf(part, at + part.length)) found += 1;
  return found;
}

function replace({ own, budget, insert }: Receiver, ...args: (Value | undefined)[]): string {
  return replaceText(own, text(args[0]), insert(args[1]), args[2], budget);
}

/** Returns a text with a part replaced, at most this many times. */
export function replaceText(own: string, old: string, fresh: string, most: Value | undefined, budget: Budget): string {
  const found = count(own, old);
  const times = most === undefined || integer(most) < 0 ? found : Math.min(found, integer(most));
  budget.make(own.length + times * fresh.length);
  const parts = old === '' ? ['', ...own, ''] : own.split(old);
  const rest = parts.slice(times + 1).map((part) => old + part);
  return parts.slice(0, times + 1).join(fresh) + rest.join('');
}

/** Splits at runs of spaces, or at a separator; at most this many times, from one side on. */
export function split(own: string, separator: Value | undefined, most: Value | undefined, fromRight = false): string[] {
  const limit = most === undefined || integer(most) < 0 ? Infinity : integer(most);
  if (separator === undefined || separator === null) return splitAtSpaces(own, limit, fromRight);
  const mark = text(separator);
  if (mark === '') throw failure('empty separator');
  const parts = own.split(mark);
  if (parts.length - 1 <= limit) return parts;
  return fromRight
    ? [parts.slice(0, parts.length - limit).join(mark), ...parts.slice(parts.length - limit)]
    : [...parts.slice(0, limit), parts.slice(limit).join(mark)];
}

const WORD = new RegExp(`[^${SPACE}]+`, 'g');

function splitAtSpaces(own: string, limit: number, fromRight: boolean): string[] {
  const words = [...own.matchAll(WORD)];
  if (words.length <= limit) return words.map(([word]) => word);
  if (limit === 0) return [stripEnds(own, isSpace, fromRight ? 'right' : 'left')];
  if (!fromRight) return [...words.slice(0, limit).map(([word]) => word), own.slice(words[limit]!.index)];
  const last = words[words.length - limit - 1]!;
  return [own.slice(0, last.index + last[0].length), ...words.slice(words.length - limit).map(([word]) => word)];
}

/** Returns a text whose first character is in upper case, and the others in lower case. */
export function capitalize(own: string): string {
  const [first = '', ...rest] = own;
  return first.toUpperCase() + rest.join('').toLowerCase();
}

/** Returns whether a text has cased letters, and all are of one case. */
export function hasCase(own: string, isUpper: boolean): boolean {
  const [lower, upper] = [own.toLowerCase(), own.toUpperCase()];
  return own === (isUpper ? upper : lower) && lower !== upper;
}

const METHODS: Readonly<Record<string, Method>> = {
  capitalize: [[], ({ own }) => capitalize(own)],
  casefold: [[], ({ own }) => own.replaceAll('ß', 'ss').toLowerCase()],
  center: [['width', 'fillchar'], pads((missing, width) => (missing >> 1) + (missing & width & 1))],
  count: [
    ['sub', 'start', 'end'],
    ({ own }, part, start, end) => {
      const within = partOf(own, start, end);
      return within ? BigInt(count(within[1], text(part))) : 0n;
    },
  ],
  endswith: [['suffix', 'start', 'end'], ends((own, part) => own.endsWith(part))],
  expandtabs: [['tabsize'], ({ own }, size) => expandTabs(own, integer(size, 8))],
  find: [['sub', 'start', 'end'], finds(false, false)],
  index: [['sub', 'start', 'end'], finds(false, true)],
  isalnum: each('[\\p{L}\\p{N}]'),
  isalpha: each('\\p{L}'),
  isascii: [[], ({ own }) => /^[\0-\x7f]*$/.test(own)],
  isdecimal: each('\\p{Nd}'),
  isdigit: each('[\\p{Nd}²³¹⁰⁴-⁹₀-₉]'),
  isidentifier: [[], ({ own }) => /^[\p{L}\p{Nl}_][\p{L}\p{N}\p{M}\p{Pc}]*$/u.test(own)],
  islower: [[], ({ own }) => hasCase(own, false)],
  isnumeric: each('\\p{N}'),
  isprintable: [[], ({ own }) => !/(?! )[\p{C}\p{Z}]/u.test(own)],
  isspace: each(`[${SPACE}]`),
  istitle: [[], ({ own }) => own === titled(own) && /\p{L}/u.test(own)],
  isupper: [[], ({ own }) => hasCase(own, true)],
  join: [['iterable'], (self, items) => join(self, items)],
  ljust: [['width', 'fillchar'], pads(() => 0)],
  lower: [[], ({ own }) => own.toLowerCase()],
  lstrip: [CHARS, strips('left')],
  partition: [['sep'], partition(false)],
  removeprefix: [['prefix'], ({ own }, part) => (own.startsWith(text(part)) ? own.slice(text(part).length) : own)],
  removesuffix: [
    ['suffix'],
    ({ own }, part) => (text(part) !== '' && own.endsWith(text(part)) ? own.slice(0, -text(part).length) : own),
  ],
  replace: [['old', 'new', 'count'], replace],
  rfind: [['sub', 'start', 'end'], finds(true, false)],
  rindex: [['sub', 'start', 'end'], finds(true, true)],
  rjust: [['width', 'fillchar'], pads((missing) => missing)],
  rpartition: [['sep'], partition(true)],
  rsplit: [['sep', 'maxsplit'], ({ own }, separator, most) => split(own, separator, most, true)],
  rstrip: [CHARS, strips('right')],
  split: [['sep', 'maxsplit'], ({ own }, separator, most) => split(own, separator, most)],
  splitlines: [['keepends'], ({ own }, keeps) => splitLines(own, flag(keeps))],
  startswith: [['prefix', 'start', 'end'], ends((own, part) => own.startsWith(part))],
  strip: [CHARS, strips('both')],
  swapcase: [
    [],
    ({ own }) => Array.from(own, (one) => (one === one.toUpperCase() ? one.toLowerCase() : one.toUpperCase())).join(''),
  ],
  title: [[], ({ own }) => titled(own)],
  upper: [[], ({ own }) => own.toUpperCase()],
  zfill: [
    ['width'],
    ({ own, budget }, width) => {
      const missing = Math.max(0, integer(width) - lengthOfText(own));
      budget.make(missing);
      const sign = /^[+-]?/.exec(own)![0];
      return sign + '0'.repeat(missing) + own.slice(sign.length);
    },
  ],
};

function titled(own: string): string {
  return own.replace(/\p{L}+/gu, (word) => capitalize(word));
}

function expandTabs(own: string, size: number): string {
  let column = 0;
  return Array.from(own, (character) => {
    if (character === '\t') {
      const spaces = size > 0 ? size - (column % size) : 0;
      column += spaces;
      return ' '.repeat(spaces);
    }
    column = character === '\n' || character === '\r' ? 0 : column + 1;
    return character;
  }).join('');
}

function join({ own, budget, insert }: Receiver, items: Value | undefined): string {
  const parts: string[] = [];
  for (const item of iterate(items ?? null)) {
    if (asText(item) === undefined)
      throw failure(`sequence item ${parts.length}: expected str instance, ${typeName(item)} found`);
    parts.push(insert(item));
    budget.make(own.length + parts.at(-1)!.length);
  }
  return parts.join(own);
}

/** Returns a method of a text, which is called with its arguments; undefined if there is none of this name here. */
export function textMethod(
  self: string | Markup,
  name: string,
): ((given: Arguments, budget: Budget) => Value) | undefined {
  if (!Object.hasOwn(METHODS, name)) return undefined;
  const [names, run] = METHODS[name]!;
  const isMarkup = self instanceof Markup;
  return (given, budget) => {
    const insert = (value: Value | undefined): string =>
      isMarkup && value !== undefined ? escaped(value, budget) : text(value);
    const own = isMarkup ? self.text : self;
    budget.read(own);
    const result = run({ own, budget, insert }, ...bind(given, names, `${name}()`));
    if (typeof result === 'string' || Array.isArray(result)) budget.make(result.length);
    return marked(result, isMarkup);
  };
}

/** Returns the texts of a result as `Markup`, if the method's text is. */
function marked(result: Value, isMarkup: boolean): Value {
  if (!isMarkup) return result;
  if (typeof result === 'string') return new Markup(result);
  if (!Array.isArray(result)) return result;
  const items = result.map((one) => marked(one, true));
  return result instanceof Tuple ? Tuple.with(items) : items;
}

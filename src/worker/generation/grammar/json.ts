/** Grammars of JSON values, without spaces before and after them. */
import { anyOf, bytes, choice, optional, repeat, sequence, text, type Grammar, type Rule } from './grammar.js';

/** Between two parts of a value: nothing, a space, or a new line and its indentation. So spaces come to an end. */
export const SPACE: Grammar = optional(choice(text(' '), sequence(text('\n'), repeat(text(' '), 0, 16))));
const COMMA = sequence(text(','), SPACE);
const COLON = sequence(text(':'), SPACE);

const DIGIT = anyOf('0123456789');
const HEX = anyOf('0123456789abcdefABCDEF');
const MORE = bytes([0x80, 0xbf]);
/** The characters that are not ASCII, as UTF-8 has them. */
const WIDE: Grammar = choice(
  sequence(bytes([0xc2, 0xdf]), MORE),
  sequence(bytes([0xe0, 0xe0]), bytes([0xa0, 0xbf]), MORE),
  sequence(bytes([0xe1, 0xec], [0xee, 0xef]), MORE, MORE),
  sequence(bytes([0xed, 0xed]), bytes([0x80, 0x9f]), MORE),
  sequence(bytes([0xf0, 0xf0]), bytes([0x90, 0xbf]), MORE, MORE),
  sequence(bytes([0xf1, 0xf3]), MORE, MORE, MORE),
  sequence(bytes([0xf4, 0xf4]), bytes([0x80, 0x8f]), MORE, MORE),
);
/** The characters of ASCII that a string has as they are. */
const PLAIN = bytes([0x20, 0x21], [0x23, 0x5b], [0x5d, 0x7f]);
/** Halves of surrogate pairs are left out: each escape is one character. */
const ESCAPE: Grammar = sequence(
  text('\\'),
  choice(
    anyOf('"\\/bfnrt'),
    sequence(
      text('u'),
      choice(
        sequence(anyOf('0123456789abcefABCEF'), HEX, HEX, HEX),
        sequence(anyOf('dD'), anyOf('01234567'), HEX, HEX),
      ),
    ),
  ),
);
const CHARACTER = choice(PLAIN, WIDE, ESCAPE);

/** Returns a string of so many characters. */
export function string(min = 0, max = Infinity): Grammar {
  return sequence(text('"'), repeat(CHARACTER, min, max), text('"'));
}

/** Returns a string that is none of `names`. It has no escapes. */
export function stringBut(names: readonly string[]): Grammar {
  const plain = names.filter((name) => JSON.stringify(name) === `"${name}"`);
  return sequence(text('"'), restBut(plain.map((name) => [...name])));
}

/** Returns the rest of such a string. @param names the rests of the names that begin as the string does */
function restBut(names: readonly (readonly string[])[]): Grammar {
  if (names.length === 0) return sequence(repeat(choice(PLAIN, WIDE), 0), text('"'));
  const begin = [...new Set(names.flatMap(([first]) => first ?? []))];
  const other = PLAIN.set.map((is, byte) => (begin.includes(String.fromCharCode(byte)) ? 0 : is));
  // Where a name goes on with a character that is not ASCII, none is taken.
  const wide = begin.every((one) => one.charCodeAt(0) < 0x80) ? [WIDE] : [];
  return choice(
    sequence(choice({ kind: 'bytes', set: other }, ...wide), restBut([])),
    ...begin.map((first) => {
      const rests = names.filter(([one]) => one === first).map((name) => name.slice(1));
      return sequence(text(first), restBut(rests));
    }),
    ...(names.some(({ length }) => length === 0) ? [] : [text('"')]),
  );
}

/** Returns a value as `JSON.stringify` writes it. */
export function literal(value: unknown): Grammar {
  return text(JSON.stringify(value));
}

/** A number has so many digits before its point, and so many behind it: all that JavaScript keeps. */
export const MAX_DIGITS = 15;
const WHOLE = choice(text('0'), sequence(anyOf('123456789'), repeat(DIGIT, 0, MAX_DIGITS - 1)));

export const INTEGER: Grammar = choice(
  text('0'),
  sequence(optional(text('-')), anyOf('123456789'), repeat(DIGIT, 0, MAX_DIGITS - 1)),
);
export const NUMBER: Grammar = sequence(
  optional(text('-')),
  WHOLE,
  optional(sequence(text('.'), repeat(DIGIT, 1, MAX_DIGITS))),
  optional(sequence(anyOf('eE'), optional(anyOf('+-')), repeat(DIGIT, 1, 2))),
);
export const BOOLEAN: Grammar = choice(text('true'), text('false'));
export const NULL: Grammar = text('null');

/** A member of an object. */
export interface Member {
  readonly key: Grammar;
  readonly value: Grammar;
  readonly isRequired: boolean;
}

/**
 * Returns an object with these members, in this order.
 * @param others any number of members behind them
 */
export function object(members: readonly Member[], others?: Pick<Member, 'key' | 'value'>): Grammar {
  const pair = ({ key, value }: Pick<Member, 'key' | 'value'>): Grammar => sequence(key, COLON, value);
  const more = others && sequence(COMMA, pair(others));
  // Behind a member, and where none is before: from the last member to the first.
  let behind: Grammar = more ? repeat(more, 0) : sequence();
  let first: Grammar = others ? optional(sequence(pair(others), repeat(more!, 0))) : sequence();
  for (const member of members.toReversed()) {
    const begun = sequence(pair(member), behind);
    const next = sequence(COMMA, begun);
    [first, behind] = member.isRequired ? [begun, next] : [choice(begun, first), choice(next, behind)];
  }
  return sequence(text('{'), SPACE, first, SPACE, text('}'));
}

/**
 * Returns a list of so many items.
 * @param items the first ones, each its own
 * @param others what the items behind them are
 */
export function list(items: readonly Grammar[], others: Grammar, min = 0, max = Infinity): Grammar {
  const itemAt = (at: number): Grammar => items[at] ?? others;
  const count = Math.min(items.length, max);
  let behind: Grammar = repeat(sequence(COMMA, others), Math.max(0, min - count), max - count);
  for (let at = count - 1; at > 0; at--) {
    const next = sequence(COMMA, items[at]!, behind);
    behind = at >= min ? optional(next) : next;
  }
  // Where no item has a place of its own, the first is one of the others.
  if (count === 0) behind = repeat(sequence(COMMA, others), Math.max(0, min - 1), Math.max(0, max - 1));
  const all = max === 0 ? sequence() : sequence(itemAt(0), behind);
  return sequence(text('['), SPACE, min === 0 ? optional(all) : all, SPACE, text(']'));
}

/** Any value. */
export const VALUE: Rule = { kind: 'rule' };
/** Any object. */
export const OBJECT: Grammar = object([], { key: string(), value: VALUE });
VALUE.body = choice(OBJECT, list([], VALUE), string(), NUMBER, BOOLEAN, NULL);

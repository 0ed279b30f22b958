/** Grammars of JSON values, without spaces before and after them. */
import {
  anyOf,
  bytes,
  choice,
  oneOf,
  optional,
  repeat,
  sequence,
  text,
  type Bytes,
  type Grammar,
  type Rule,
} from './grammar.js';
import { foldTrie } from './trie.js';

/** Between two parts of a value: nothing, a space, or a new line and its indentation. So spaces come to an end. */
export const SPACE: Grammar = optional(choice(text(' '), sequence(text('\n'), repeat(text(' '), 0, 16))));
const COMMA = sequence(text(','), SPACE);
const COLON = sequence(text(':'), SPACE);
const QUOTE = text('"');

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
  return sequence(QUOTE, repeat(CHARACTER, min, max), QUOTE);
}

/** Returns the rest of a name after its first quotation mark. */
export function nameRest(name: string): Grammar {
  return text(JSON.stringify(name).slice(1));
}

/** The rest of a name without escapes. */
const ANY_REST = sequence(repeat(choice(PLAIN, WIDE), 0), QUOTE);

/** Returns the rest of a name that is none of `names`. It has no escapes. */
export function nameRestBut(names: readonly string[]): Grammar {
  const plain = names.filter((name) => JSON.stringify(name) === `"${name}"`);
  const others = new Map<string, Bytes>();
  return foldTrie(plain, (next, isEnd) => {
    const begin = [...next.keys()].toSorted();
    const other = others.get(begin.join('')) ?? plainBut(begin);
    others.set(begin.join(''), other);
    // Where a name continues with a character that is not ASCII, none is taken.
    const wide = begin.every((one) => one.charCodeAt(0) < 0x80) ? [WIDE] : [];
    return oneOf([
      sequence(choice(other, ...wide), ANY_REST),
      ...Array.from(next, ([character, rest]) => sequence(text(character), rest)),
      ...(isEnd ? [] : [QUOTE]),
    ]);
  });
}

function plainBut(characters: readonly string[]): Bytes {
  if (characters.length === 0) return PLAIN;
  return { kind: 'bytes', set: PLAIN.set.map((is, byte) => (characters.includes(String.fromCharCode(byte)) ? 0 : is)) };
}

/** Returns one of these values, each as `JSON.stringify` writes it. */
export function literals(values: readonly unknown[]): Grammar {
  const texts = values.map((value) => JSON.stringify(value));
  return foldTrie(texts, (next, isEnd) =>
    oneOf([
      ...(isEnd ? [sequence()] : []),
      ...Array.from(next, ([character, rest]) => sequence(text(character), rest)),
    ]),
  );
}

/** A number has this many digits before its decimal point, and this many after it: as many as JavaScript represents. */
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
  /** Its name, after the first quotation mark. */
  readonly key: Grammar;
  readonly value: Grammar;
  readonly isRequired: boolean;
}

/**
 * Returns an object with these members, in this order.
 * @param others any number of members after them
 */
export function object(members: readonly Member[], others?: Pick<Member, 'key' | 'value'>): Grammar {
  const pair = ({ key, value }: Pick<Member, 'key' | 'value'>): Grammar => sequence(key, COLON, value);
  // From the last member to the first: what may come from here on, after a quotation mark; whether there may be
  // nothing; and what may come after the member before.
  let after = others ? repeat(sequence(COMMA, QUOTE, pair(others)), 0) : sequence();
  let rest = others && sequence(pair(others), after);
  let mayEnd = true;
  for (const member of members.toReversed()) {
    const begun = sequence(pair(member), after);
    rest = member.isRequired || !rest ? begun : choice(begun, rest);
    mayEnd &&= !member.isRequired;
    const next = sequence(COMMA, QUOTE, rest);
    after = mayEnd ? optional(next) : next;
  }
  const all = rest ? sequence(QUOTE, rest) : sequence();
  return sequence(text('{'), SPACE, mayEnd ? optional(all) : all, SPACE, text('}'));
}

/**
 * Returns a list of so many items.
 * @param items the first ones, each its own
 * @param others the items after them
 */
export function list(items: readonly Grammar[], others: Grammar, min = 0, max = Infinity): Grammar {
  const itemAt = (at: number): Grammar => items[at] ?? others;
  const count = Math.min(items.length, max);
  let after: Grammar = repeat(sequence(COMMA, others), Math.max(0, min - count), max - count);
  for (let at = count - 1; at > 0; at--) {
    const next = sequence(COMMA, items[at]!, after);
    after = at >= min ? optional(next) : next;
  }
  // Where no item has a place of its own, the first is one of the others.
  if (count === 0) after = repeat(sequence(COMMA, others), Math.max(0, min - 1), Math.max(0, max - 1));
  const all = max === 0 ? sequence() : sequence(itemAt(0), after);
  return sequence(text('['), SPACE, min === 0 ? optional(all) : all, SPACE, text(']'));
}

/** Any value. */
export const VALUE: Rule = { kind: 'rule' };
/** Any object. */
export const OBJECT: Grammar = object([], { key: sequence(repeat(CHARACTER, 0), QUOTE), value: VALUE });
VALUE.body = choice(OBJECT, list([], VALUE), string(), NUMBER, BOOLEAN, NULL);

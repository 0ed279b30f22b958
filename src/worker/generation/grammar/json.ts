/** Grammars of JSON values, without spaces before and after them. */
import {
  anyOf,
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
import { PLAIN, WIDE } from './characters.js';
import { foldTrie, oneOfTexts } from './trie.js';

/** Between two parts of a value: nothing, a space, or a new line and its indentation. So spaces come to an end. */
export const SPACE: Grammar = optional(choice(text(' '), sequence(text('\n'), repeat(text(' '), 0, 16))));
export const COMMA = sequence(text(','), SPACE);
const COLON = sequence(text(':'), SPACE);
const QUOTE = text('"');

const DIGIT = anyOf('0123456789');
const HEX = anyOf('0123456789abcdefABCDEF');
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

/** Returns a string of this many characters. */
export function string(min = 0, max = Infinity): Grammar {
  return sequence(QUOTE, repeat(CHARACTER, min, max), QUOTE);
}

/** Returns a string of this content. */
export function stringOf(content: Grammar): Grammar {
  return sequence(QUOTE, stringRest(content));
}

/** Returns a string of this content after its first quotation mark. */
export function stringRest(content: Grammar): Grammar {
  return sequence(content, QUOTE);
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
  return oneOfTexts(values.map((value) => JSON.stringify(value)));
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
}

/** A member that an object has in its place. */
export interface NamedMember extends Member {
  readonly isRequired: boolean;
}

/**
 * Returns an object with these members, in this order; undefined if none has this many.
 * @param others the members after them, any of these
 * @param min the least number of members; at most one of the others is counted, as their names may be the same
 */
export function object(
  members: readonly NamedMember[],
  others: readonly Member[] = [],
  min = 0,
  max = Infinity,
): Grammar | undefined {
  const pair = ({ key, value }: Member): Grammar => sequence(key, COLON, value);
  const other = others.length === 0 ? undefined : oneOf(others.map(pair));
  // By the number of members before, of which those from the last one on make no difference: what may come from here on,
  // after a quotation mark, and what may come after the member before.
  const last = max < Infinity ? max : min;
  const counts = Array.from({ length: last + 1 }, (_, count) => count);
  const isEnough = (count: number): boolean => count >= min;
  let rest = counts.map((count) => {
    if (!other || count >= max || count + 1 < min) return undefined;
    return sequence(other, repeat(sequence(COMMA, QUOTE, other), 0, max - count - 1));
  });
  let mayEnd = counts.map(isEnough);
  const following = (): readonly (Grammar | undefined)[] =>
    counts.map((count) => {
      const next = rest[count] && sequence(COMMA, QUOTE, rest[count]);
      return mayEnd[count] ? (next ? optional(next) : sequence()) : next;
    });
  for (const member of members.toReversed()) {
    const after = following();
    rest = counts.map((count) => {
      const then = count < max ? after[Math.min(count + 1, last)] : undefined;
      const begun = then && sequence(pair(member), then);
      const skipped = member.isRequired ? undefined : rest[count];
      return begun && skipped ? choice(begun, skipped) : (begun ?? skipped);
    });
    if (member.isRequired) mayEnd = counts.map(() => false);
  }
  const all = rest[0] && sequence(QUOTE, rest[0]);
  if (!all && !mayEnd[0]) return undefined;
  return sequence(text('{'), SPACE, all ? (mayEnd[0] ? optional(all) : all) : sequence(), SPACE, text('}'));
}

/**
 * Returns a list of this many items.
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
export const OBJECT: Grammar = object([], [{ key: sequence(repeat(CHARACTER, 0), QUOTE), value: VALUE }])!;
VALUE.body = choice(OBJECT, list([], VALUE), string(), NUMBER, BOOLEAN, NULL);

/** Characters in JSON strings, each written in one way, as `JSON.stringify` writes it. */
import { bytes, oneOf, sequence, type Bytes, type Grammar } from './grammar.js';
import { oneOfTexts } from './trie.js';

/** Code points by their first and last one, in their order, without overlaps. */
export type CharacterSet = readonly (readonly [first: number, last: number])[];

/** The code points that UTF-8 writes with 2, 3, 3 and 4 bytes. */
const WIDTHS = [
  [0x80, 0x7ff],
  [0x800, 0xd7ff],
  [0xe000, 0xffff],
  [0x10000, 0x10ffff],
] as const;

/** Halves of surrogate pairs are no characters. */
const ALL: CharacterSet = [
  [0, 0xd7ff],
  [0xe000, 0x10ffff],
];

/** The characters of ASCII that a string has as they are. */
export const PLAIN: Bytes = bytes([0x20, 0x21], [0x23, 0x5b], [0x5d, 0x7f]);

/** By the first and the last byte: alternatives that continue with the same object are followed as one. */
const RANGES = new Map<string, Bytes>();
const utf8 = new TextEncoder();

/** The characters that are not ASCII. */
export const WIDE: Grammar = oneOf(wide([0x80, 0x10ffff]));
/** Any character. */
export const CHARACTER: Grammar = character(ALL);

/** Returns the characters that are in any of these sets. */
export function union(...sets: readonly CharacterSet[]): CharacterSet {
  const all: (readonly [number, number])[] = [];
  for (const [first, last] of sets.flat().toSorted(([one], [other]) => one - other)) {
    const before = all.at(-1);
    if (before && first <= before[1] + 1) all[all.length - 1] = [before[0], Math.max(before[1], last)];
    else all.push([first, last]);
  }
  return all;
}

/** Returns the characters that are not in a set. */
export function complement(set: CharacterSet): CharacterSet {
  const ends = [-1, ...set.flatMap(([first, last]) => [first, last]), 0x110000];
  return Array.from({ length: ends.length / 2 }, (_, at) => [ends[2 * at]! + 1, ends[2 * at + 1]! - 1] as const).filter(
    ([first, last]) => first <= last,
  );
}

/**
 * Returns sets without overlaps: each of the given ones is some of them, together. All of them are all characters.
 */
export function partition(sets: readonly CharacterSet[]): readonly CharacterSet[] {
  const begins = new Set([...sets, ALL].flatMap((set) => set.flatMap(([first, last]) => [first, last + 1])));
  const points = [...begins].toSorted((one, other) => one - other);
  const parts = new Map<string, [number, number][]>();
  for (const [at, first] of points.entries()) {
    if (!includes(ALL, first)) continue;
    const key = sets.map((set) => Number(includes(set, first))).join('');
    const part = parts.get(key) ?? [];
    parts.set(key, part);
    part.push([first, points[at + 1]! - 1]);
  }
  return Array.from(parts.values(), (part) => union(part));
}

/** Returns whether a character belongs to a set. */
export function includes(set: CharacterSet, code: number): boolean {
  return set.some(([first, last]) => first <= code && code <= last);
}

/** Returns one character of a set that has some. */
export function character(set: CharacterSet): Grammar {
  const plain = new Uint8Array(256);
  const escaped: string[] = [];
  for (const [first, last] of set)
    for (let code = first; code <= Math.min(last, 0x7f); code++)
      if (PLAIN.set[code] === 1) plain[code] = 1;
      else escaped.push(JSON.stringify(String.fromCharCode(code)).slice(1, -1));
  return oneOf([
    ...(plain.includes(1) ? [{ kind: 'bytes', set: plain } as const] : []),
    ...(escaped.length > 0 ? [oneOfTexts(escaped)] : []),
    ...set.flatMap(wide),
  ]);
}

/** Returns the characters of a range that are not ASCII. */
function wide([first, last]: readonly [number, number]): readonly Grammar[] {
  return WIDTHS.flatMap(([least, most]) =>
    first > most || last < least ? [] : encoded(Math.max(first, least), Math.min(last, most)),
  );
}

/** Returns characters that have the same number of bytes: ranges of which each byte may be any between two others. */
function encoded(first: number, last: number): readonly Grammar[] {
  for (const bits of [6, 12, 18]) {
    const low = (1 << bits) - 1;
    if (first >> bits === last >> bits) continue;
    if ((first & low) !== 0) return [...encoded(first, first | low), ...encoded((first | low) + 1, last)];
    if ((last & low) !== low) return [...encoded(first, (last & ~low) - 1), ...encoded(last & ~low, last)];
  }
  const [from, to] = [utf8.encode(String.fromCodePoint(first)), utf8.encode(String.fromCodePoint(last))];
  return [sequence(...Array.from(from, (byte, at) => range(byte, to[at]!)))];
}

function range(first: number, last: number): Bytes {
  const key = `${first} ${last}`;
  const found = RANGES.get(key) ?? bytes([first, last]);
  RANGES.set(key, found);
  return found;
}

/**
 * Grammars: sets of texts, as bytes of UTF-8, which an answer is compared with byte by byte. Each part may stand in
 * several places.
 */

import { invalidInput } from '../../../contract/errors.js';

/** One byte of a set. */
export interface Bytes {
  readonly kind: 'bytes';
  /** 1 for each byte of the set, at the byte's place. */
  readonly set: Uint8Array;
}

export interface Sequence {
  readonly kind: 'sequence';
  /** Whether there is a rule in it, at any depth. */
  readonly hasRules: boolean;
  readonly parts: readonly Grammar[];
}

export interface Choice {
  readonly kind: 'choice';
  readonly hasRules: boolean;
  readonly options: readonly Grammar[];
}

/** An item between `min` and `max` times. */
export interface Repeat {
  readonly kind: 'repeat';
  readonly hasRules: boolean;
  readonly item: Grammar;
  readonly min: number;
  readonly max: number;
  /** What is left after one item, made when it is first asked for. */
  rest?: Repeat;
}

/** A part that may contain itself: its body is set when the part is known. */
export interface Rule {
  readonly kind: 'rule';
  body?: Grammar;
}

/** A part that is made when an answer gets there. */
export interface Deferred {
  readonly kind: 'deferred';
  /** Has the same bytes as what is made. */
  readonly like: Grammar;
  readonly make: () => Grammar;
}

export type Grammar = Bytes | Sequence | Choice | Repeat | Rule | Deferred;

/** Returns one byte of these ranges, each with its first and its last byte. */
export function bytes(...ranges: readonly (readonly [first: number, last: number])[]): Bytes {
  const set = new Uint8Array(256);
  for (const [first, last] of ranges) set.fill(1, first, last + 1);
  return { kind: 'bytes', set };
}

/** Returns one of these characters of ASCII. */
export function anyOf(characters: string): Bytes {
  return bytes(...[...characters].map((one) => [one.charCodeAt(0), one.charCodeAt(0)] as const));
}

/** Each byte alone. */
const BYTES = Array.from({ length: 256 }, (_, byte) => bytes([byte, byte]));

const utf8 = new TextEncoder();

/** Returns exactly this text. */
export function text(value: string): Grammar {
  const parts = Array.from(utf8.encode(value), (byte) => BYTES[byte]!);
  return parts.length === 1 ? parts[0]! : { kind: 'sequence', hasRules: false, parts };
}

function hasRules(grammar: Grammar): boolean {
  return grammar.kind === 'rule' || ('hasRules' in grammar && grammar.hasRules);
}

export function sequence(...parts: readonly Grammar[]): Grammar {
  return parts.length === 1 ? parts[0]! : { kind: 'sequence', hasRules: parts.some(hasRules), parts };
}

export function choice(...options: readonly Grammar[]): Grammar {
  return oneOf(options);
}

/** Returns one of any number of options: a call takes only some ten thousand arguments. */
export function oneOf(options: readonly Grammar[]): Grammar {
  return options.length === 1 ? options[0]! : { kind: 'choice', hasRules: options.some(hasRules), options };
}

export function repeat(item: Grammar, min: number, max = Infinity): Repeat {
  return { kind: 'repeat', hasRules: hasRules(item), item, min, max };
}

export function optional(item: Grammar): Grammar {
  return repeat(item, 0, 1);
}

/** Returns what is left of a repetition after one item. */
export function restOf(from: Repeat): Repeat {
  if (from.min === 0 && from.max === Infinity) return from;
  from.rest ??= repeat(from.item, Math.max(0, from.min - 1), from.max - 1);
  return from.rest;
}

/**
 * Returns a grammar and all that it contains, each once.
 * @param innerOf returns what a part contains
 */
function allParts(grammar: Grammar, innerOf = partsOf): readonly Grammar[] {
  const found = new Set([grammar]);
  // The loop over a set continues with what is added meanwhile.
  for (const part of found) for (const inner of innerOf(part)) found.add(inner);
  return [...found];
}

function partsOf(grammar: Grammar): readonly Grammar[] {
  switch (grammar.kind) {
    case 'bytes':
      return [];
    case 'sequence':
      return grammar.parts;
    case 'choice':
      return grammar.options;
    case 'repeat':
      return [grammar.item];
    case 'rule':
      if (grammar.body) return [grammar.body];
      // It is compared while it is made.
      throw invalidInput(
        'A JSON Schema that contains itself is not supported beside enum, and for items beside uniqueItems.',
      );
    case 'deferred':
      return [grammar.like];
  }
}

/** Returns a number for each byte. Bytes with the same one are alike everywhere in the grammar. */
export function byteClasses(grammar: Grammar): Uint8Array {
  let classes = new Uint8Array(256);
  for (const part of allParts(grammar)) if (part.kind === 'bytes') classes = split(classes, part.set);
  return classes;
}

/** Returns the classes, each split into the bytes that are in a set and those that are not. */
function split(classes: Uint8Array, set: Uint8Array): Uint8Array<ArrayBuffer> {
  const numbers = new Map<number, number>();
  return Uint8Array.from(classes, (one, byte) => {
    const key = one * 2 + set[byte]!;
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  });
}

/** Returns the rules that have no text at all, because they contain themselves without end. */
export function endlessRules(grammar: Grammar): readonly Rule[] {
  // What has no rules has a text.
  const all = allParts(grammar, (part) => partsOf(part).filter(hasRules));
  /** What contains a part, once for each time that it does. */
  const around = new Map<Grammar, Grammar[]>(all.map((part) => [part, []]));
  /** How many more of its parts must have a text before it has one. */
  const missing = new Map<Grammar, number>();
  for (const part of all) {
    const parts = partsOf(part);
    const open = parts.filter(hasRules);
    for (const inner of open) around.get(inner)!.push(part);
    const hasText =
      part.kind === 'choice' ? open.length < parts.length : part.kind === 'repeat' ? part.min === 0 : open.length === 0;
    missing.set(part, hasText ? 0 : part.kind === 'choice' ? 1 : open.length);
  }
  const finite = all.filter((part) => missing.get(part) === 0);
  for (let part = finite.pop(); part; part = finite.pop())
    for (const outer of around.get(part)!) {
      const left = missing.get(outer)! - 1;
      missing.set(outer, left);
      if (left === 0) finite.push(outer);
    }
  return all.filter((part): part is Rule => part.kind === 'rule' && missing.get(part)! > 0);
}

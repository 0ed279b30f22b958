/**
 * Grammars: sets of texts, as bytes of UTF-8, which an answer is compared with byte by byte. Each part may stand in
 * several places.
 */

/** One byte of a set. */
export interface Bytes {
  readonly kind: 'bytes';
  /** 1 for each byte of the set, at the byte's place. */
  readonly set: Uint8Array;
}

export interface Sequence {
  readonly kind: 'sequence';
  readonly parts: readonly Grammar[];
}

export interface Choice {
  readonly kind: 'choice';
  readonly options: readonly Grammar[];
}

/** An item between `min` and `max` times. */
export interface Repeat {
  readonly kind: 'repeat';
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

export type Grammar = Bytes | Sequence | Choice | Repeat | Rule;

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
  return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
}

export function sequence(...parts: readonly Grammar[]): Grammar {
  return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
}

export function choice(...options: readonly Grammar[]): Grammar {
  return oneOf(options);
}

/** Returns one of any number of options: a call takes only some ten thousand arguments. */
export function oneOf(options: readonly Grammar[]): Grammar {
  return options.length === 1 ? options[0]! : { kind: 'choice', options };
}

export function repeat(item: Grammar, min: number, max = Infinity): Repeat {
  return { kind: 'repeat', item, min, max };
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

/** Returns a grammar and all that it contains, each once; what is contained mostly behind what contains it. */
function allParts(grammar: Grammar): readonly Grammar[] {
  const found = new Set([grammar]);
  // A set goes on with what is added meanwhile.
  for (const part of found) for (const inner of partsOf(part)) found.add(inner);
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
      return [grammar.body!];
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
  const all = allParts(grammar);
  /** What contains a part, once for each time that it does. */
  const around = new Map<Grammar, Grammar[]>(all.map((part) => [part, []]));
  /** How many more parts of it must have a text before it has one. */
  const missing = new Map<Grammar, number>();
  for (const part of all) {
    const parts = partsOf(part);
    for (const inner of parts) around.get(inner)!.push(part);
    missing.set(part, part.kind === 'repeat' && part.min === 0 ? 0 : part.kind === 'choice' ? 1 : parts.length);
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

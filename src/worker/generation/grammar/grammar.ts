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

/** Returns exactly this text. */
export function text(value: string): Grammar {
  return sequence(...Array.from(new TextEncoder().encode(value), (byte) => BYTES[byte]!));
}

export function sequence(...parts: readonly Grammar[]): Grammar {
  return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
}

export function choice(...options: readonly Grammar[]): Grammar {
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

/** Returns a number for each byte. Bytes with the same one are alike everywhere in the grammar. */
export function byteClasses(grammar: Grammar): Uint8Array {
  const seen = new Set<Grammar>();
  let classes = new Uint8Array(256);
  const visit = (part: Grammar): void => {
    if (seen.has(part)) return;
    seen.add(part);
    if (part.kind === 'bytes') classes = split(classes, part.set);
    else if (part.kind === 'repeat') visit(part.item);
    else if (part.kind === 'rule') visit(part.body!);
    else for (const inner of part.kind === 'choice' ? part.options : part.parts) visit(inner);
  };
  visit(grammar);
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

/**
 * Returns the rules that have no text at all, because they contain themselves without end.
 * @param rules all that the grammars contain
 */
export function endlessRules(rules: readonly Rule[]): readonly Rule[] {
  const finite = new Set<Rule>();
  const isFinite = (grammar: Grammar, seen: Map<Grammar, boolean>): boolean => {
    const known = seen.get(grammar);
    if (known !== undefined) return known;
    const every = (parts: readonly Grammar[]): boolean => parts.every((part) => isFinite(part, seen));
    const found =
      grammar.kind === 'bytes' ||
      (grammar.kind === 'sequence' && every(grammar.parts)) ||
      (grammar.kind === 'choice' && grammar.options.some((option) => isFinite(option, seen))) ||
      (grammar.kind === 'repeat' && (grammar.min === 0 || isFinite(grammar.item, seen))) ||
      (grammar.kind === 'rule' && finite.has(grammar));
    seen.set(grammar, found);
    return found;
  };
  for (let before = -1; before < finite.size;) {
    before = finite.size;
    const seen = new Map<Grammar, boolean>();
    for (const rule of rules) if (isFinite(rule.body!, seen)) finite.add(rule);
  }
  return rules.filter((rule) => !finite.has(rule));
}

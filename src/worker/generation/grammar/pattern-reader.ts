/** Reads a part of JavaScript's syntax of regular expressions. */
import { invalidInput, type TabServeError } from '../../../contract/errors.js';
import { complement, union, type CharacterSet } from './characters.js';

/** A pattern, or a part of one. */
export type Node =
  | { readonly kind: 'set'; readonly set: CharacterSet }
  | { readonly kind: 'all'; readonly parts: readonly Node[] }
  | { readonly kind: 'any'; readonly options: readonly Node[] }
  | { readonly kind: 'repeat'; readonly item: Node; readonly min: number; readonly max: number }
  | { readonly kind: 'look'; readonly item: Node; readonly isNegated: boolean }
  | { readonly kind: 'begin' | 'end' };

/** A repetition has at most this many items, if it has a maximum. */
const MAX_REPEATS = 10_000;
/** Groups are in one another to this depth. */
const MAX_DEPTH = 50;

/** Returns a set of single characters, and of ranges as two of them. */
const of = (...characters: readonly string[]): CharacterSet =>
  union(
    characters.map((range) => {
      const points = Array.from(range, (one) => one.codePointAt(0)!);
      return [points[0]!, points.at(-1)!] as const;
    }),
  );
const DIGIT = of('09');
const WORD = of('09', 'AZ', '_', 'az');
const SPACE = of(
  '\t\r',
  ' ',
  '\u00a0',
  '\u1680',
  '\u2000\u200a',
  '\u2028\u2029',
  '\u202f',
  '\u205f',
  '\u3000',
  '\ufeff',
);
const CLASSES: Readonly<Record<string, CharacterSet>> = {
  d: DIGIT,
  D: complement(DIGIT),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
};
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', v: '\v', f: '\f', 0: '\0' };
/** All but line breaks. */
const DOT = complement(of('\n', '\r', '\u2028\u2029'));

/** Returns the error for what a pattern has. */
export function unsupported(path: string, pattern: string, what: string): TabServeError {
  return invalidInput(
    `${path}: ${JSON.stringify(pattern.slice(0, 80))} has ${what}, which is not supported. Supported are characters, classes, groups, alternatives, repetitions, lookaheads, and ^ and $ at the ends.`,
  );
}

export class PatternReader {
  readonly #pattern: string;
  readonly #characters: readonly string[];
  readonly #path: string;
  #at = 0;
  #depth = 0;

  constructor(pattern: string, path: string) {
    this.#pattern = pattern;
    this.#characters = [...pattern];
    this.#path = path;
  }

  read(): Node {
    const node = this.#options();
    if (this.#next !== undefined) throw this.#fail(`"${this.#next}" without a group`);
    return node;
  }

  get #next(): string | undefined {
    return this.#characters[this.#at];
  }

  #take(): string {
    return this.#characters[this.#at++]!;
  }

  #takes(text: string): boolean {
    const isNext = [...text].every((one, at) => this.#characters[this.#at + at] === one);
    if (isNext) this.#at += text.length;
    return isNext;
  }

  /** Takes what a pattern of ASCII finds here. */
  #match(pattern: RegExp): RegExpExecArray | undefined {
    const found = pattern.exec(this.#characters.slice(this.#at, this.#at + 64).join(''));
    this.#at += found?.[0].length ?? 0;
    return found ?? undefined;
  }

  #fail(what: string): TabServeError {
    return unsupported(this.#path, this.#pattern, what);
  }

  #options(): Node {
    const options = [this.#sequence()];
    while (this.#takes('|')) options.push(this.#sequence());
    return options.length === 1 ? options[0]! : { kind: 'any', options };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    while (this.#next !== undefined && this.#next !== '|' && this.#next !== ')') parts.push(this.#repeated());
    return parts.length === 1 ? parts[0]! : { kind: 'all', parts };
  }

  #repeated(): Node {
    const item = this.#atom();
    const [quantifier, exact, more, most] = this.#match(/^(?:[*+?]|\{(\d+)(,(\d*))?\})\??/) ?? [];
    if (quantifier === undefined) return item;
    const [min, max] =
      exact === undefined
        ? [quantifier.startsWith('+') ? 1 : 0, quantifier.startsWith('?') ? 1 : Infinity]
        : [Number(exact), more === undefined ? Number(exact) : Number(most || Infinity)];
    if (min > MAX_REPEATS || (max > MAX_REPEATS && max < Infinity))
      throw this.#fail(`more than ${MAX_REPEATS} repetitions`);
    return { kind: 'repeat', item, min, max };
  }

  #atom(): Node {
    const character = this.#take();
    switch (character) {
      case '^':
        return { kind: 'begin' };
      case '$':
        return { kind: 'end' };
      case '.':
        return { kind: 'set', set: DOT };
      case '[':
        return { kind: 'set', set: this.#class() };
      case '(': {
        const begin = this.#match(/^\?(?:[:=!]|<(?![=!])[^>]*>)/)?.[0];
        if (begin === undefined && this.#next === '?') throw this.#fail('a group of this kind');
        const item = this.#group();
        return begin === '?=' || begin === '?!' ? { kind: 'look', item, isNegated: begin === '?!' } : item;
      }
      case '\\':
        return { kind: 'set', set: this.#escape() };
      default:
        return { kind: 'set', set: of(character) };
    }
  }

  #group(): Node {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw this.#fail(`more than ${MAX_DEPTH} groups in one another`);
    const node = this.#options();
    this.#depth -= 1;
    this.#take();
    return node;
  }

  #escape(): CharacterSet {
    const code = this.#match(/^(?:x([\da-f]{2})|u([\da-f]{4})|u\{([\da-f]{1,6})\})/i)
      ?.slice(1)
      .find(Boolean);
    if (code !== undefined) return of(String.fromCodePoint(Number.parseInt(code, 16)));
    const character = this.#take();
    const known = CLASSES[character];
    if (known) return known;
    if (ESCAPES[character] !== undefined && !/\d/.test(this.#next ?? '')) return of(ESCAPES[character]);
    if (/[a-z\d]/i.test(character)) throw this.#fail(`\\${character}`);
    return of(character);
  }

  #class(): CharacterSet {
    const isNegated = this.#takes('^');
    const sets: CharacterSet[] = [];
    while (!this.#takes(']')) {
      const first = this.#member();
      if (this.#next !== '-' || this.#characters[this.#at + 1] === ']') {
        sets.push(first);
        continue;
      }
      this.#take();
      const last = this.#member();
      // Between classes, as in [\w-.], a hyphen stands for itself.
      sets.push(isSingle(first) && isSingle(last) ? [[first[0]![0], last[0]![0]]] : union(first, of('-'), last));
    }
    return isNegated ? complement(union(...sets)) : union(...sets);
  }

  #member(): CharacterSet {
    const character = this.#take();
    if (character !== '\\') return of(character);
    return this.#takes('b') ? of('\b') : this.#takes('-') ? of('-') : this.#escape();
  }
}

function isSingle(set: CharacterSet): boolean {
  return set.length === 1 && set[0]![0] === set[0]![1];
}

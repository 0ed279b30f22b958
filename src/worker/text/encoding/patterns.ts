import { TabServeError } from '../../../contract/errors.js';
import { limitedStep } from '../../../shared/limited-step.js';

/** A pattern of a `tokenizer.json`: a text that is matched as it is, or an expression in Oniguruma's syntax. */
export interface PatternJson {
  readonly String?: string;
  readonly Regex?: string;
}

const SETS: Readonly<Record<string, string>> = {
  d: String.raw`\p{Nd}`,
  s: String.raw`\p{White_Space}`,
  w: String.raw`\p{Alphabetic}\p{M}\p{Nd}\p{Pc}`,
  h: '0-9A-Fa-f',
};
/** Oniguruma counts these as part of a word only outside of a class. */
const WORD = String.raw`[${SETS['w']!}\u00B2\u00B3\u00B9\u00BC-\u00BE]`;
const ASSERTIONS: Readonly<Record<string, string>> = {
  A: '^',
  z: '$',
  Z: String.raw`(?=\n?$)`,
  b: `(?:(?<!${WORD})(?=${WORD})|(?<=${WORD})(?!${WORD}))`,
  B: `(?:(?<!${WORD})(?!${WORD})|(?<=${WORD})(?=${WORD}))`,
  '^': String.raw`(?:^|(?<=\n)(?=[\s\S]))`,
  $: String.raw`(?=\n|$)`,
};
const CONTROLS: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, e: 27 };
/** The sets that are named in brackets, such as `[:alpha:]`, and by `\p`. */
const NAMED: Readonly<Record<string, string>> = {
  alnum: String.raw`\p{Alphabetic}\p{Nd}`,
  alpha: String.raw`\p{Alphabetic}`,
  blank: String.raw`\t\p{Zs}`,
  cntrl: String.raw`\p{Cc}`,
  digit: String.raw`\p{Nd}`,
  lower: String.raw`\p{Lowercase}`,
  punct: String.raw`\p{P}\p{S}`,
  space: String.raw`\p{White_Space}`,
  upper: String.raw`\p{Uppercase}`,
  word: SETS['w']!,
  xdigit: SETS['h']!,
};

/**
 * Returns the expression of a pattern.
 * @throws `model-format` if it is none, or has what JavaScript cannot express
 */
export function toRegExp(pattern: PatternJson | null | undefined): RegExp {
  const { String: text, Regex: source } = pattern ?? {};
  if (typeof text === 'string') return new RegExp(Array.from(text, literal).join(''), 'gv');
  try {
    if (typeof source === 'string') return new RegExp(new Translation(source).run(), 'gv');
  } catch (cause) {
    throw notExpressible(`the pattern ${source}`, cause);
  }
  throw notExpressible('a pattern that has neither "String" nor "Regex"');
}

/**
 * Returns what runs a part of a tokenizer: within a time limit if it matches expressions, which may backtrack without
 * end.
 * @param json of the part
 */
export function limitMatching(json: unknown): <T>(run: () => T) => T {
  const found: string[] = [];
  // `toRegExp` reports a pattern that is none.
  JSON.stringify(json, (key, value: unknown) => {
    if (key === 'Regex') found.push(String(value));
    return value;
  });
  if (found.length === 0) return (run) => run();
  const which = found.length === 1 ? 'the pattern' : 'one of the patterns';
  const name = `tokenizer.json: ${which} ${found.join(' and ').slice(0, 200)}`;
  const remedy = `Save the tokenizer without it, or tokenize in a handler of your own: base_handler takes the tokens' ids.`;
  return (run) => limitedStep({ name, remedy }, run);
}

function notExpressible(what: string, cause?: unknown): TabServeError {
  return new TabServeError(
    'model-format',
    `tokenizer.json has ${what.slice(0, 200)}, which TabServe cannot read${cause instanceof Error ? `: ${cause.message.slice(0, 200)}` : ''}. Save the tokenizer without it, or tokenize in a handler of your own: base_handler takes the tokens' ids.`,
    { cause },
  );
}

function literal(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}

/** Translates an expression of Oniguruma, which Hugging Face's tokenizers use, to one of JavaScript with the flag `v`. */
class Translation {
  #at = 0;
  #written = '';
  /** Where in what is written the part begins that a quantifier is for. */
  #atom = 0;
  #hasQuantifier = false;
  #ignoresCase = false;
  #atomics = 0;
  #hasReference = false;
  readonly #groups: { readonly start: number; readonly end: string; readonly ignoredCase: boolean }[] = [];

  constructor(private readonly source: string) {}

  run(): string {
    while (this.#at < this.source.length) this.#step();
    // What makes parts atomic are groups of their own, which a number would count.
    if (this.#hasReference && this.#atomics > 0) throw new SyntaxError('a reference beside an atomic group');
    return this.#written;
  }

  #step(): void {
    const quantifier = this.#take(/(?:[*+?]|\{\d+,\d*\}|\{,\d+\}|\{\d+\})/y);
    if (quantifier !== undefined) return this.#repeat(quantifier);
    const group = this.#take(/\((?:\?(?:i:|[:=!>]|<[=!]|<[A-Za-z_]\w*>|#[^)]*\)))?/y);
    if (group !== undefined) return group.startsWith('(?#') ? undefined : this.#open(group);
    if (this.source.startsWith('(?', this.#at)) throw new SyntaxError('a group of an unknown kind');
    if (this.#take(/\|/y)) {
      this.#written += '|';
      this.#atom = this.#written.length;
    } else if (this.#take(/\)/y)) this.#close();
    else if (this.#take(/\[/y)) this.#write(this.#class());
    else if (this.#take(/\./y)) this.#write(String.raw`[^\n]`);
    else {
      const assertion = this.#take(/\\[AzZbB]|[\^$]/y);
      if (assertion !== undefined) return this.#write(ASSERTIONS[assertion.at(-1)!]!);
      if (this.#take(/\\w|\\p\{Word\}/y)) return this.#write(WORD);
      if (this.#take(/\\W|\\P\{Word\}/y)) return this.#write(`[^${WORD}]`);
      const reference = this.#take(/\\[1-9]|\\k<\w+>/y);
      if (reference !== undefined) {
        this.#hasReference = true;
        return this.#write(reference);
      }
      const set = this.#set();
      this.#write(set ?? this.#folded(this.#character()));
    }
  }

  /** Returns what stands here, if it fits. */
  #take(expected: RegExp): string | undefined {
    expected.lastIndex = this.#at;
    const found = expected.exec(this.source)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #write(atom: string): void {
    this.#atom = this.#written.length;
    this.#written += atom;
    this.#hasQuantifier = false;
  }

  #repeat(quantifier: string): void {
    let atom = this.#written.slice(this.#atom);
    if (atom === '') throw new SyntaxError('nothing to repeat');
    if (this.#hasQuantifier) atom = `(?:${atom})`;
    const times = quantifier.replace('{,', '{0,');
    // After `{2}`, `?` and `+` are quantifiers of their own, as is `+` after `{1,2}`.
    const isPossessive = quantifier.length === 1 && this.#take(/\+/y) !== undefined;
    const lazy = /^.$|,/.test(quantifier) && !isPossessive ? (this.#take(/\?/y) ?? '') : '';
    this.#written = this.#written.slice(0, this.#atom);
    if (isPossessive) {
      const [start, end] = this.#atomic();
      this.#written += start + atom + times + end;
    } else this.#written += atom + times + lazy;
    this.#hasQuantifier = true;
  }

  /** Returns what makes a part give back nothing that it has matched: JavaScript keeps what a lookahead has found. */
  #atomic(): readonly [start: string, end: string] {
    const name = `atomic${this.#atomics++}`;
    return [`(?:(?=(?<${name}>`, String.raw`))\k<${name}>)`];
  }

  #open(group: string): void {
    const [start, end] = group === '(?>' ? this.#atomic() : [group === '(?i:' ? '(?:' : group, ')'];
    this.#groups.push({ start: this.#written.length, end, ignoredCase: this.#ignoresCase });
    this.#ignoresCase ||= group === '(?i:';
    this.#written += start;
    this.#atom = this.#written.length;
  }

  #close(): void {
    const group = this.#groups.pop();
    if (!group) throw new SyntaxError('a bracket that closes nothing');
    this.#written += group.end;
    this.#atom = group.start;
    this.#hasQuantifier = false;
    this.#ignoresCase = group.ignoredCase;
  }

  /** Reads a class, after its bracket. A class in it is part of it. */
  #class(): string {
    const isNegated = this.#take(/\^/y) !== undefined;
    const operands: string[] = [];
    let items: string[] = [];
    const operand = (): void => {
      if (items.length === 0) throw new SyntaxError('an empty class');
      operands.push(`[${items.join('')}]`);
      items = [];
    };
    // A bracket at the beginning is a character.
    if (this.#take(/\]/y)) items.push(literal(']'));
    while (!this.#take(/\]/y)) {
      if (this.#at >= this.source.length) throw new SyntaxError('a class without an end');
      if (this.#take(/&&/y)) operand();
      else items.push(this.#item());
    }
    operand();
    const all = operands.join('&&');
    return `[${isNegated ? '^' : ''}${this.#ignoresCase ? `[${all}]${otherCases(`[${all}]`)}` : all}]`;
  }

  #item(): string {
    const [, not, name] = /^\[:(\^?)(\w+):\]$/.exec(this.#take(/\[:\^?\w+:\]/y) ?? '') ?? [];
    if (name !== undefined) {
      if (!Object.hasOwn(NAMED, name)) throw new SyntaxError(`[:${name}:]`);
      return `[${not}${NAMED[name]!}]`;
    }
    if (this.#take(/\[/y)) return this.#class();
    const set = this.#set();
    if (set !== undefined) {
      if (/^-(?!\]|&&)/.test(this.source.slice(this.#at, this.#at + 3))) throw new SyntaxError('a range from a set');
      return set;
    }
    const first = this.#character(true);
    if (!this.#take(/-(?!\]|&&)/y)) return literal(first);
    return `${literal(first)}-${literal(this.#character(true))}`;
  }

  /** Reads a set of characters that has a name. */
  #set(): string | undefined {
    const letter = this.#take(/\\[dswhDSWH]/y)?.[1];
    if (letter !== undefined) {
      const set = SETS[letter.toLowerCase()]!;
      return letter in SETS ? `[${set}]` : `[^${set}]`;
    }
    const [, kind, caret, name] = /^\\([pP])\{(\^?)(.*)\}$/.exec(this.#take(/\\[pP]\{[^}]*\}/y) ?? '') ?? [];
    if (name === undefined) return undefined;
    return `[${(kind === 'P') === (caret === '^') ? '' : '^'}${propertyOf(name)}]`;
  }

  /** Reads one character, which may be written as an escape. */
  #character(isInClass = false): string {
    const code = this.#take(/\\x\{[\dA-Fa-f]{1,8}\}|\\x[\dA-Fa-f]{1,2}|\\u[\dA-Fa-f]{4}/y);
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code.replace(/^..\{?/, ''), 16));
    const escaped = this.#take(/\\[^]/uy)?.slice(1);
    if (escaped !== undefined && Object.hasOwn(CONTROLS, escaped)) return String.fromCodePoint(CONTROLS[escaped]!);
    if (escaped !== undefined && /[A-Za-z\d]/.test(escaped)) throw new SyntaxError(`\\${escaped}`);
    const character = escaped ?? this.#take(isInClass ? /[^\\]/uy : /[^\\[)]/uy);
    if (character === undefined) throw new SyntaxError('an escape without a character');
    return character;
  }

  #folded(character: string): string {
    if (!this.#ignoresCase) return literal(character);
    return `[${[...casesOf(character)].map(literal).join('')}]`;
  }
}

/** Returns a property of Unicode, in which case may be wrong, and a script's name may stand alone. */
function propertyOf(name: string): string {
  const lower = name.toLowerCase();
  const capital = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
  for (const property of [name, lower, capital, `Script=${capital}`]) {
    try {
      return RegExp(`\\p{${property}}`, 'v').source;
    } catch {
      // It has another name.
    }
  }
  if (Object.hasOwn(NAMED, lower)) return NAMED[lower]!;
  throw new SyntaxError(`\\p{${name}}`);
}

/** Returns a character in both cases, and the one that differs from it only by case although it is neither. */
function casesOf(character: string): Set<string> {
  const lower = character.toLowerCase();
  const cases = [character, lower, character.toUpperCase(), lower === 's' ? 'ſ' : lower === 'k' ? '\u212A' : lower];
  return new Set(cases.filter((one) => [...one].length === 1));
}

/** Returns the letters whose other case a class has. */
function otherCases(set: string): string {
  const member = new RegExp(`^${set}$`, 'v');
  const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  return letters.filter((letter) => [...casesOf(letter)].some((one) => member.test(one))).join('');
}

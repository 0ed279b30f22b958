/** Cuts a template into tokens, as Jinja does with `trim_blocks` and `lstrip_blocks`. */
import { isSpace, SPACE, stripEnds } from './characters.js';
import { TemplateError } from './errors.js';
import { codeOf } from './print.js';

/** A token: text outside of tags, the ends of a tag, or what is in it. */
export interface Token {
  readonly type: 'data' | 'begin' | 'end' | 'name' | 'text' | 'int' | 'float' | 'operator' | 'eof';
  /** Of `begin` and `end`: `{{`, `}}`, `{%` or `%}`. */
  readonly value: string;
  readonly line: number;
}

const TAG = /\{\{[-+]?|\{%[-+]?|\{#[-+]?/g;
const RAW = new RegExp(`\\{%[-+]?[${SPACE}]*raw[${SPACE}]*(?:-%\\}[${SPACE}]*|%\\})`, 'y');
const END_OF_RAW = new RegExp(`\\{%([-+]?)[${SPACE}]*endraw[${SPACE}]*(?:\\+%\\}|-%\\}[${SPACE}]*|%\\}\\n?)`, 'g');
const END_OF_COMMENT = new RegExp(`\\+#\\}|-#\\}[${SPACE}]*|#\\}\\n?`, 'g');
const END_OF_BLOCK = new RegExp(`\\+%\\}|-%\\}[${SPACE}]*|%\\}\\n?`, 'y');
const END_OF_VARIABLE = new RegExp(`-\\}\\}[${SPACE}]*|\\}\\}`, 'y');

const DIGITS = '(?:\\d+_)*\\d+';
const INNER: readonly (readonly [Token['type'] | 'space', RegExp])[] = [
  ['space', new RegExp(`[${SPACE}]+`, 'y')],
  ['float', new RegExp(`(?<!\\.)${DIGITS}(?:(?:\\.${DIGITS})?e[+-]?${DIGITS}|\\.${DIGITS})`, 'iy')],
  ['int', /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy],
  ['name', /[\p{L}\p{Nl}_][\p{L}\p{N}\p{M}\p{Pc}]*/uy],
  ['text', /'[^'\\]*(?:\\[^][^'\\]*)*'|"[^"\\]*(?:\\[^][^"\\]*)*"/y],
  ['operator', /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y],
];
const CLOSES: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** @throws `syntax` */
export function tokenize(template: string): readonly Token[] {
  const source = template.replace(/\r\n?/g, '\n').replace(/\n$/, '');
  return [...new Lexer(source).tokens()];
}

class Lexer {
  #at = 0;
  #line = 1;
  #counted = 0;
  /** Whether what was read last ends with a line break: then a tag may begin its line. */
  #startsLine = true;

  constructor(private readonly source: string) {}

  *tokens(): Generator<Token> {
    const { source } = this;
    while (this.#at < source.length) {
      TAG.lastIndex = this.#at;
      const tag = TAG.exec(source);
      if (!tag) {
        yield this.#token('data', source.slice(this.#at));
        break;
      }
      const raw = this.#match(RAW, tag.index);
      const kind = tag[0].slice(0, 2);
      const text = source.slice(this.#at, tag.index);
      yield this.#token('data', this.#stripped(text, tag[0][2], kind !== '{{'));
      this.#moveTo(tag.index + (raw ?? tag[0]).length);
      if (raw !== undefined) yield this.#raw();
      else if (kind === '{#') this.#skipComment();
      else yield* this.#inner(kind);
    }
    yield this.#token('eof', '');
  }

  /** Returns the text before a tag, without the spaces that the tag takes away. */
  #stripped(text: string, sign: string | undefined, isBlock: boolean): string {
    if (sign === '-') return stripEnds(text, isSpace, 'right');
    if (sign === '+' || !isBlock) return text;
    const line = text.lastIndexOf('\n') + 1;
    const isAlone = (line > 0 || this.#startsLine) && stripEnds(text.slice(line), isSpace, 'left') === '';
    return isAlone ? text.slice(0, line) : text;
  }

  #raw(): Token {
    END_OF_RAW.lastIndex = this.#at;
    const end = END_OF_RAW.exec(this.source);
    if (!end) throw this.#wrong('The end of a raw block is missing');
    const token = this.#token('data', this.#stripped(this.source.slice(this.#at, end.index), end[1], true));
    this.#moveTo(end.index + end[0].length);
    return token;
  }

  #skipComment(): void {
    END_OF_COMMENT.lastIndex = this.#at;
    const end = END_OF_COMMENT.exec(this.source);
    if (!end) throw this.#wrong('The end of a comment is missing');
    this.#moveTo(end.index + end[0].length);
  }

  /** Reads a tag to its end. */
  *#inner(kind: string): Generator<Token> {
    yield this.#token('begin', kind);
    const open: string[] = [];
    const end = kind === '{%' ? END_OF_BLOCK : END_OF_VARIABLE;
    for (;;) {
      // Within brackets, what looks like an end is none: {{ {'a': {}} }}.
      const close = open.length === 0 ? this.#match(end, this.#at) : undefined;
      if (close !== undefined) {
        yield this.#token('end', kind === '{%' ? '%}' : '}}');
        this.#moveTo(this.#at + close.length);
        return;
      }
      const [type, value] = this.#next();
      if (type === 'operator') this.#balance(open, value);
      if (type === 'text') yield this.#token(type, unescape(value.slice(1, -1)));
      else if (type !== 'space') yield this.#token(type, value);
      this.#moveTo(this.#at + value.length);
    }
  }

  #next(): readonly [Token['type'] | 'space', string] {
    for (const [type, pattern] of INNER) {
      const value = this.#match(pattern, this.#at);
      if (value !== undefined) return [type, value];
    }
    throw this.#wrong(
      this.#at === this.source.length
        ? 'The end of a tag is missing'
        : `Unexpected character ${JSON.stringify(this.source[this.#at])}`,
    );
  }

  #balance(open: string[], value: string): void {
    if (CLOSES[value]) open.push(CLOSES[value]);
    else if (value === ')' || value === ']' || value === '}')
      if (open.pop() !== value) throw this.#wrong(`Unexpected ${value}`);
  }

  #match(pattern: RegExp, at: number): string | undefined {
    pattern.lastIndex = at;
    return pattern.exec(this.source)?.[0];
  }

  #moveTo(at: number): void {
    this.#at = at;
    this.#startsLine = this.source[at - 1] === '\n';
  }

  #token(type: Token['type'], value: string): Token {
    for (; this.#counted < this.#at; this.#counted++) if (this.source[this.#counted] === '\n') this.#line += 1;
    return { type, value, line: this.#line };
  }

  #wrong(what: string): TemplateError {
    return new TemplateError('syntax', `${what} in line ${this.#token('eof', '').line}.`);
  }
}

const SIMPLE: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Reads the escapes of a text, as Python's `unicode-escape` does. */
function unescape(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|([^]))/gu,
    (all: string, x?: string, u?: string, long?: string, octal?: string, other = '') => {
      const hex = x ?? u ?? long;
      if (hex !== undefined) {
        const code = Number.parseInt(hex, 16);
        if (code > 0x10ffff) throw new TemplateError('syntax', `${all} is no character.`);
        return String.fromCodePoint(code);
      }
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      if ('xuU'.includes(other)) throw new TemplateError('syntax', `${all} is an incomplete escape.`);
      if (other === 'N') throw new TemplateError('unsupported', 'It names a character by \\N{…}. Write the character.');
      // Jinja writes what is not ASCII as an escape first, and the backslash before it escapes that escape's own.
      return SIMPLE[other] ?? (other > '\x7f' ? codeOf(other) : all);
    },
  );
}

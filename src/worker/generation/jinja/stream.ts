import { TemplateError } from './errors.js';
import { tokenize, type Token } from './lexer.js';

/** The tokens of a template, read one by one. */
export class Stream {
  readonly #tokens: readonly Token[];
  #at = 0;

  /** @throws `syntax` */
  constructor(template: string) {
    this.#tokens = tokenize(template);
  }

  get current(): Token {
    return this.#tokens[this.#at]!;
  }

  get following(): Token {
    return this.#tokens[this.#at + 1] ?? this.current;
  }

  next(): Token {
    const { current } = this;
    if (current.type !== 'eof') this.#at += 1;
    return current;
  }

  /** Returns whether the current token is this one. */
  is(type: Token['type'], value?: string): boolean {
    return this.current.type === type && (value === undefined || this.current.value === value);
  }

  /** Reads the current token if it is this one. Returns whether it is. */
  skip(type: Token['type'], value?: string): boolean {
    const found = this.is(type, value);
    if (found) this.next();
    return found;
  }

  /** @throws `syntax` if the current token is another */
  expect(type: Token['type'], value?: string): Token {
    if (this.is(type, value)) return this.next();
    throw this.wrong(`expected ${value ?? `a ${type}`}`);
  }

  /** Returns the error for the current token. */
  wrong(expected: string): TemplateError {
    const { type, value, line } = this.current;
    const found = type === 'eof' ? 'the end of the template' : JSON.stringify(value.slice(0, 40));
    return new TemplateError('syntax', `Line ${line}: ${expected}, got ${found}.`);
  }
}

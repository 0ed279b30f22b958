/** Thrown for what is no Python here. */
class NoPython extends Error {}

const NAMED: Readonly<Record<string, unknown>> = {
  True: true,
  False: false,
  None: null,
  true: true,
  false: false,
  null: null,
};
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '\n': '' };

interface PythonCall {
  readonly name: string;
  readonly given: Readonly<Record<string, unknown>>;
}

/** Reads a list of calls in Python's syntax, whose arguments are literals with names. */
export class PythonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the calls; undefined if the text is something else. */
  calls(): readonly PythonCall[] | undefined {
    try {
      this.#expect('[');
      const calls = this.#items(']', () => this.#call());
      return this.#at === this.#text.length ? calls : undefined;
    } catch (error) {
      if (error instanceof NoPython || error instanceof RangeError) return undefined;
      throw error;
    }
  }

  #call(): PythonCall {
    const name = this.#match(/[A-Za-z_][\w.-]*/y);
    this.#expect('(');
    const pairs = this.#items(')', () => {
      const key = this.#match(/[A-Za-z_]\w*/y);
      this.#expect('=');
      return [key, this.#value()] as const;
    });
    return { name, given: Object.fromEntries(pairs) };
  }

  #value(): unknown {
    this.#space();
    const first = this.#text[this.#at];
    if (first === '"' || first === "'") return this.#string(first);
    if (first === '[' || first === '(') {
      this.#at += 1;
      return this.#items(first === '[' ? ']' : ')', () => this.#value());
    }
    if (first === '{') {
      this.#at += 1;
      const pairs = this.#items('}', () => {
        const key = this.#value();
        this.#expect(':');
        return [String(key), this.#value()] as const;
      });
      return Object.fromEntries(pairs);
    }
    const word = this.#match(/[-+\w.]+/y);
    if (Object.hasOwn(NAMED, word)) return NAMED[word];
    const number = Number(word.replaceAll(/(?<=\d)_(?=\d)/g, ''));
    if (Number.isNaN(number)) throw new NoPython();
    return number;
  }

  #string(quote: string): string {
    let text = '';
    for (this.#at += 1; this.#at < this.#text.length; this.#at++) {
      const character = this.#text[this.#at]!;
      if (character === quote) {
        this.#at += 1;
        return text;
      }
      text += character === '\\' ? this.#escape() : character;
    }
    throw new NoPython();
  }

  #escape(): string {
    this.#at += 1;
    const letter = this.#text[this.#at] ?? '';
    const digits = { x: 2, u: 4, U: 8 }[letter];
    if (digits !== undefined) {
      const code = Number.parseInt(this.#text.slice(this.#at + 1, this.#at + 1 + digits), 16);
      if (Number.isNaN(code)) throw new NoPython();
      this.#at += digits;
      return String.fromCodePoint(code);
    }
    return ESCAPES[letter] ?? (/["'\\]/.test(letter) ? letter : `\\${letter}`);
  }

  /** Reads what is separated by commas, up to the end and with it. */
  #items<Item>(end: string, item: () => Item): Item[] {
    const items: Item[] = [];
    for (;;) {
      this.#space();
      if (this.#text[this.#at] === end) break;
      items.push(item());
      this.#space();
      if (this.#text[this.#at] !== ',') break;
      this.#at += 1;
    }
    this.#expect(end);
    return items;
  }

  #space(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #expect(character: string): void {
    this.#space();
    if (this.#text[this.#at] !== character) throw new NoPython();
    this.#at += 1;
  }

  #match(pattern: RegExp): string {
    this.#space();
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found === undefined) throw new NoPython();
    this.#at += found.length;
    return found;
  }
}

import type { AddedTokenJson } from './encoding/added-tokens.js';

/** The tokens of a `tokenizer.json`, and their ids. */
export class Vocabulary {
  /** The ids of the model's own tokens. */
  readonly ids: ReadonlyMap<string, number>;
  /** The tokens that the tokenizer adds to the model's, by their contents. */
  #added: ReadonlyMap<string, AddedTokenJson> = new Map();
  readonly #tokens: string[] = [];
  #special: ReadonlySet<number> = new Set();

  /** @param vocab `vocab` of the model: a mapping to ids, or a list of tokens and scores, in the order of their ids */
  constructor(vocab: object, added: readonly AddedTokenJson[]) {
    const ids = new Map<string, number>();
    const add = (token: string, id: number): void => {
      ids.set(token, id);
      this.#tokens[id] = token;
    };
    if (Array.isArray(vocab)) (vocab as [string, number][]).forEach(([token], id) => add(token, id));
    // `Object.entries` takes twice as long for an object of 100,000 keys.
    else for (const token in vocab) add(token, (vocab as Readonly<Record<string, number>>)[token]!);
    this.ids = ids;
    this.add(added);
  }

  /** Sets the tokens that the tokenizer adds. */
  add(added: readonly AddedTokenJson[]): void {
    this.#added = new Map(added.map((token) => [token.content, token]));
    for (const { id, content } of added) this.#tokens[id] = content;
    this.#special = new Set(added.filter(({ special }) => special).map(({ id }) => id));
  }

  /** The tokens that the tokenizer adds. */
  get added(): readonly AddedTokenJson[] {
    return [...this.#added.values()];
  }

  idOf(token: string): number | undefined {
    return this.#added.get(token)?.id ?? this.ids.get(token);
  }

  tokenOf(id: number): string | undefined {
    return this.#tokens[id];
  }

  /** Returns whether a token is special: no part of a text. */
  isSpecial(id: number): boolean {
    return this.#special.has(id);
  }
}

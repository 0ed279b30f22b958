/** Responses that a client may refer to. */
import type { Item } from './response-input.js';

/** A response, and what it answered. */
export interface StoredResponse {
  readonly body: { readonly id: string; readonly output: readonly Item[] };
  /** The items before its output. */
  readonly input: readonly Item[];
}

/** The size that all responses may have together, in characters of JSON. The oldest ones are dropped. */
const MAX_CHARACTERS = 16 * 2 ** 20;

/** Stores the latest responses of a model. */
export class ResponseStore {
  readonly #all = new Map<string, StoredResponse & { readonly characters: number }>();
  #characters = 0;

  add(response: StoredResponse): void {
    const characters = JSON.stringify(response).length;
    this.#all.set(response.body.id, { ...response, characters });
    this.#characters += characters;
    for (const id of this.#all.keys()) {
      if (this.#characters <= MAX_CHARACTERS) break;
      this.delete(id);
    }
  }

  get(id: string): StoredResponse | undefined {
    return this.#all.get(id);
  }

  /** Returns an item of an output by its id. */
  item(id: string): Item | undefined {
    for (const { body } of this.#all.values()) {
      const found = body.output.find((item) => item['id'] === id);
      if (found) return found;
    }
    return undefined;
  }

  /** Returns whether there was such a response. */
  delete(id: string): boolean {
    this.#characters -= this.#all.get(id)?.characters ?? 0;
    return this.#all.delete(id);
  }
}

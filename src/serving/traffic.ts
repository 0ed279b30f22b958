/** Counts the requests of a server that are not answered, and tells when they begin and end. */
export class Traffic {
  #active = 0;
  readonly #listeners = new Set<() => void>();

  /** Number of requests that are not answered. */
  get active(): number {
    return this.#active;
  }

  begin(): void {
    this.#active += 1;
    for (const listener of this.#listeners) listener();
  }

  end(): void {
    this.#active -= 1;
    for (const listener of this.#listeners) listener();
  }

  /** Calls a listener after each change. Returns a function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

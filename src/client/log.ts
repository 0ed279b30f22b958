/** The latest entries, as many as a bug report needs. */
const MAX_ENTRIES = 200;

/** What happened in one client, in order, with the time since it was made. */
export class EventLog {
  readonly #begun = performance.now();
  readonly #entries: string[] = [];

  /** @param since when it began, by `performance.now()`, for what took time */
  add(what: string, since?: number): void {
    const now = performance.now();
    const took = since === undefined ? '' : ` (${(now - since).toFixed(0)} ms)`;
    this.#entries.push(`${(now - this.#begun).toFixed(0).padStart(8)} ms  ${what}${took}`);
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
  }

  get entries(): readonly string[] {
    return this.#entries;
  }
}

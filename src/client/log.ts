/** The latest entries, as many as a bug report needs. */
const MAX_ENTRIES = 200;

/** The log of one client: its events in order, each with the time since the client was created. */
export class EventLog {
  readonly #begun = performance.now();
  readonly #entries: string[] = [];

  /** @param since when the event began, by `performance.now()`, if it took time */
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

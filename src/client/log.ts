/** As many as tell what happened lately. */
const KEPT = 200;

/** What happened to one client, in order: for a bug report. */
export class Story {
  readonly #begun = performance.now();
  readonly #lines: string[] = [];

  /** @param since when it began, by `performance.now()`, where it took time */
  tell(what: string, since?: number): void {
    const now = performance.now();
    this.#lines.push(
      `${(now - this.#begun).toFixed(0).padStart(8)} ms  ${what}${since === undefined ? '' : ` (${(now - since).toFixed(0)} ms)`}`,
    );
    if (this.#lines.length > KEPT) this.#lines.shift();
  }

  get lines(): readonly string[] {
    return this.#lines;
  }
}

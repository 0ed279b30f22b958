/** Counts a server's answers over HTTP by the class of their status: TorchServe's Requests2XX, Requests4XX and Requests5XX. */
export class StatusCounts {
  readonly #counts = new Map([2, 4, 5].map((hundreds) => [hundreds, 0]));

  count(status: number): void {
    const hundreds = Math.floor(status / 100);
    if (this.#counts.has(hundreds)) this.#counts.set(hundreds, this.#counts.get(hundreds)! + 1);
  }

  /** Returns the families in Prometheus' text format, by their names. */
  families(): readonly (readonly [name: string, lines: readonly string[]])[] {
    return [...this.#counts].map(([hundreds, count]) => {
      const name = `Requests${hundreds}XX`;
      const help = `# HELP ${name} Answers with a status of ${hundreds}00 to ${hundreds}99`;
      return [name, [help, `# TYPE ${name} counter`, `${name}{Level="Host"} ${count}`]];
    });
  }
}

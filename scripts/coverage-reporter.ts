import type { Reporter, TestCase, TestResult } from '@playwright/test/reporter';

/** Prints the table of `npm run coverage`: how far the answers of each architecture are from transformers'. */
export default class CoverageReporter implements Reporter {
  /** By task and architecture, for each backend that has run it. */
  readonly #rows = new Map<string, Map<string, string>>();
  readonly #failures: string[] = [];

  onTestEnd({ title, parent }: TestCase, { status, error, annotations }: TestResult): void {
    const backend = parent.project()!.name;
    if (status === 'skipped') return;
    const name = title.replace(/ @\w+/g, '');
    const row = this.#rows.get(name) ?? new Map<string, string>();
    this.#rows.set(name, row);
    const found = annotations.find(({ type }) => type === 'coverage')?.description;
    row.set(backend, status === 'passed' && found !== undefined ? Number(found).toExponential(0) : 'wrong');
    if (error) this.#failures.push(`${name}, ${backend}: ${error.message}`);
  }

  onEnd(): void {
    const table = [...this.#rows].map(([name, row]) => {
      const [, task, architecture, repository] = /^(\S+): (.+) \((\S+)\)$/.exec(name)!;
      return { task, architecture, repository, ...Object.fromEntries(row) };
    });
    console.table(table.toSorted((a, b) => `${a.task} ${a.repository}`.localeCompare(`${b.task} ${b.repository}`)));
    for (const failure of this.#failures) console.log(failure);
    const wrong = [...this.#rows.values()].filter((row) => [...row.values()].includes('wrong')).length;
    console.log(
      `${this.#rows.size} architectures, ${wrong} wrong. Each number is the largest difference of an answer.`,
    );
  }
}

import { candidateName, isSameCandidate, type Candidate, type Skipped } from '../../contract/backends.js';

/** The candidates that do not run, each once, with the latest reason. */
export class SkipList {
  #entries: readonly Skipped[];

  constructor(entries: readonly Skipped[] = []) {
    this.#entries = entries;
  }

  /** Adds a candidate, or replaces the reason of one that is in the list: it may be tried last, and then fail. */
  add({ engine, name }: Candidate, reason: string): void {
    this.#entries = [...this.without({ engine, name }), { engine, name, reason }];
  }

  without(candidate: Candidate): readonly Skipped[] {
    return this.#entries.filter((one) => !isSameCandidate(one, candidate));
  }

  get entries(): readonly Skipped[] {
    return this.#entries;
  }
}

/** Returns the reasons as one line of text. */
export function describeSkipped(entries: readonly Skipped[]): string {
  return entries.map((entry) => `${candidateName(entry)}: ${entry.reason}`).join(' ');
}

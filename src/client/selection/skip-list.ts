import { describeCandidate, describeThreads, type Candidate, type Skipped } from '../../contract/backends.js';
import type { Precision } from '../../contract/precisions.js';

/** The candidates that do not run, each once, with the latest reason; and the precisions of the model that are wrong on one. */
export class SkipList {
  #entries: readonly Skipped[];

  constructor(entries: readonly Skipped[] = []) {
    this.#entries = entries;
  }

  /**
   * Adds a candidate, or replaces the reason of one that is in the list: it may be tried last, and then fail.
   * @param precision of the model, if only that precision of it is skipped
   */
  add({ engine, name, threads }: Candidate, reason: string, precision?: Precision): void {
    const candidate = { engine, name, ...(threads !== undefined && { threads }) };
    const others = this.#entries.filter((one) => !isSame(one, candidate) || one.precision !== precision);
    this.#entries = [...others, { ...candidate, ...(precision && { precision }), reason }];
  }

  /** Returns the entries but that of a candidate. Those of its precisions stay. Reasons name the number of threads that they are true of. */
  without(candidate: Candidate): readonly Skipped[] {
    return this.#entries.filter((one) => !isSame(one, candidate) || one.precision !== undefined).map(nameThreads);
  }

  get entries(): readonly Skipped[] {
    return this.#entries;
  }
}

/** Returns the reasons as one line of text: each once, after all candidates that it is true of. */
export function describeSkipped(entries: readonly Skipped[]): string {
  const nameOf = (entry: Skipped): string =>
    `${describeCandidate(entry)}${entry.precision ? ` (${entry.precision})` : ''}`;
  const names = new Map<string, string[]>();
  for (const entry of entries) names.set(entry.reason, [...(names.get(entry.reason) ?? []), nameOf(entry)]);
  return [...names].map(([reason, all]) => `${all.join(', ')}: ${reason}`).join(' ');
}

/** Returns an entry whose reason names the number of threads. One of a precision is true of every number. */
function nameThreads(entry: Skipped): Skipped {
  const { threads, precision, reason } = entry;
  if (threads === undefined || precision !== undefined) return entry;
  const subject = `With ${describeThreads(threads)}`;
  // The client's next worker gets the reasons of the one before.
  if (reason.startsWith(subject)) return entry;
  return { ...entry, reason: reason.startsWith('It ') ? `${subject} it${reason.slice(2)}` : `${subject}: ${reason}` };
}

/** Returns whether two entries are the same candidate, with the same number of threads. */
function isSame(a: Candidate, b: Candidate): boolean {
  return describeCandidate(a) === describeCandidate(b);
}

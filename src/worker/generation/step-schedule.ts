/** Steps that several rows take together: each row takes one after the other, joins at any step and leaves at any. */

import { asTabServeError, type ErrorCode } from '../../contract/errors.js';

/** A row that waits for its next step. */
export interface Waiting<Row, Value, Answer> {
  readonly row: Row;
  readonly value: Value;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs a function later, when the rows of a step have had time to ask for the next one. Returns what cancels it. */
export type Later = (run: () => void) => () => void;

const afterTimeout: Later = (run) => {
  const timer = setTimeout(run);
  return () => clearTimeout(timer);
};

/** What ends a step of several rows, and would end that of each row alone, too. */
const ENDS_ALL: ReadonlySet<ErrorCode> = new Set([
  'aborted',
  'disposed',
  'device-lost',
  'worker-lost',
  'out-of-memory',
]);

/** Returns whether an error of several rows together would be that of each row alone, too. */
export function endsAll(error: unknown): boolean {
  return ENDS_ALL.has(asTabServeError(error).code);
}

/** Decides when the rows that wait take their next step: one step at a time, with all that are ready. */
export class StepSchedule<Row, Value, Answer> {
  readonly #step: (waiting: readonly Waiting<Row, Value, Answer>[]) => Promise<void>;
  readonly #later: Later;
  #waiting: Waiting<Row, Value, Answer>[] = [];
  /** The rows of the last step, which are expected in the next one. */
  #expected = new Set<Row>();
  #isRunning = false;
  /** Cancels the step that no longer waits for all rows of the last one. */
  #cancel: (() => void) | undefined;

  /** @param step settles each row; what it throws fails those that it has not settled */
  constructor(step: (waiting: readonly Waiting<Row, Value, Answer>[]) => Promise<void>, later = afterTimeout) {
    this.#step = step;
    this.#later = later;
  }

  /** Returns a row's answer to its next step. */
  next(row: Row, value: Value): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ row, value, resolve, reject });
      this.#consider();
    });
  }

  /** Removes a row that takes no other step: the others do not wait for it. */
  leave(row: Row): void {
    this.#expected.delete(row);
    this.#consider();
  }

  /** Runs the next step as soon as all rows of the last one wait for it, or later without the others. */
  #consider(): void {
    if (this.#isRunning || this.#waiting.length === 0) return;
    const waiting = new Set(this.#waiting.map(({ row }) => row));
    if ([...this.#expected].every((row) => waiting.has(row))) void this.#run();
    else this.#cancel ??= this.#later(() => void this.#run());
  }

  async #run(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#expected = new Set(waiting.map(({ row }) => row));
    this.#isRunning = true;
    try {
      await this.#step(waiting);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
    this.#isRunning = false;
    this.#consider();
  }
}

import { asTabServeError } from '../../contract/errors.js';
import type { MaybePromise } from '../../contract/handler.js';
import { abortError } from '../../shared/abort.js';
import { nextTask } from '../../shared/next-task.js';
import { endsAll, StepSchedule, type Waiting } from '../generation/step-schedule.js';
import { checkLength } from './handler-contract.js';

/**
 * Runs a model step by step for a handler of one's own, as TorchServe's continuous batching does: all rows that are under
 * way take each step together, those of other requests, too. A row joins at the next step, and leaves when its own loop
 * ends, so each has a stopping criterion of its own. A handler makes one loop, and says in `batchesAtOnce` how many
 * batches take part.
 *
 * If a step of several rows fails, each of them takes it alone, so a row fails alone.
 */
export class StepLoop<State> {
  readonly #step: (states: readonly State[]) => MaybePromise<readonly State[]>;
  readonly #schedule = new StepSchedule<object, State, State>((waiting) => this.#together(waiting));

  /** @param step takes the states of some rows, and returns the next state of each, in the same order */
  constructor(step: (states: readonly State[]) => MaybePromise<readonly State[]>) {
    this.#step = step;
  }

  /**
   * Yields the states of one row, step by step, without an end: the caller leaves the loop where the row is complete.
   * @param state before the first step
   * @throws the reason of `signal`; what the step throws for this row; `batch-contract` if the step returns another number
   *   of states
   */
  async *run(state: State, signal: AbortSignal): AsyncGenerator<State, never> {
    const row = {};
    let last = state;
    try {
      for (;;) {
        // An abort, and other requests, get their turn.
        await nextTask();
        if (signal.aborted) throw abortError(signal);
        last = await this.#schedule.next(row, last);
        yield last;
      }
    } finally {
      this.#schedule.leave(row);
    }
  }

  async #together(waiting: readonly Waiting<object, State, State>[]): Promise<void> {
    try {
      const states = await this.#step(waiting.map(({ value }) => value));
      checkLength(states, waiting.length);
      for (const [index, { resolve }] of waiting.entries()) resolve(states[index]!);
    } catch (error) {
      if (waiting.length === 1 || endsStep(error)) throw error;
      for (const one of waiting) await this.#together([one]).catch(one.reject);
    }
  }
}

/** Returns whether an error ends all rows of a step. An abort does not: a step has no signal but that of one of its rows. */
function endsStep(error: unknown): boolean {
  const { code } = asTabServeError(error);
  return code === 'batch-contract' || (code !== 'aborted' && endsAll(error));
}

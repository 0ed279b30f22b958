import type { LimitedStep } from '../contract/wire.js';

/** Does nothing: without a page, as in a unit test, nobody limits a step. */
let announce: (step: LimitedStep | undefined) => void = () => {};

/** Sets who is told which step begins, and by undefined that it has ended. */
export function announceSteps(to: typeof announce): void {
  announce = to;
}

/**
 * Runs code of a model's files that may never end, such as a regular expression. Nothing within the thread could end
 * it, so the page ends the worker if it takes too long.
 */
export function limitedStep<T>(step: LimitedStep, run: () => T): T {
  announce(step);
  try {
    return run();
  } finally {
    announce(undefined);
  }
}

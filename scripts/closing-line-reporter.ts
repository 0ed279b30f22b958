import { stripVTControlCharacters } from 'node:util';
import type { Reporter, Suite, TestCase } from '@playwright/test/reporter';

/**
 * Prints each skipped test with its reason and each one that failed, or passed only on the second try, with its errors,
 * and ends with `N passed, N failed`.
 */
export default class ClosingLine implements Reporter {
  #suite: Suite | undefined;

  onBegin(_config: unknown, suite: Suite): void {
    this.#suite = suite;
  }

  onEnd(): void {
    const tests = this.#suite?.allTests() ?? [];
    const skipped = tests.filter((test) => test.outcome() === 'skipped');
    for (const test of skipped)
      console.log(
        `skipped: ${titleOf(test)}: ${test.annotations.find(({ type }) => type === 'skip')?.description ?? 'no reason given'}`,
      );
    if (skipped.length > 0) console.log(`${skipped.length} skipped, for the reasons above`);
    // Last, since a CI's record may keep only the end of what was printed.
    const flaky = tests.filter((test) => test.outcome() === 'flaky');
    for (const test of flaky) console.log(`passed only on the second try: ${titleOf(test)}\n${errorsOf(test)}`);
    const failed = tests.filter((test) => test.outcome() === 'unexpected');
    for (const test of failed) console.log(`failed: ${titleOf(test)}\n${errorsOf(test)}`);
    if (flaky.length > 0) console.log(`${flaky.length} passed only on the second try`);
    const passed = tests.length - failed.length - skipped.length;
    console.log(`${passed} passed, ${failed.length} failed`);
  }

  printsToStdio(): boolean {
    return true;
  }
}

function titleOf(test: TestCase): string {
  return test.titlePath().filter(Boolean).join(' › ');
}

function errorsOf(test: TestCase): string {
  return test.results
    .flatMap(({ errors }) => errors)
    .map(({ message, value, location }) =>
      [stripVTControlCharacters(message ?? value ?? ''), location && `at ${location.file}:${location.line}`]
        .filter(Boolean)
        .join('\n'),
    )
    .join('\n');
}

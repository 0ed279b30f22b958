import type { Reporter, Suite, TestCase } from '@playwright/test/reporter';

/** Prints each skipped test with its reason, and ends with `N passed, N failed`. */
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
    const passed = tests.filter((test) => test.outcome() === 'expected').length;
    const failed = tests.length - passed - skipped.length;
    if (skipped.length > 0) console.log(`${skipped.length} skipped, for the reasons above`);
    console.log(`${passed} passed, ${failed} failed`);
  }

  printsToStdio(): boolean {
    return true;
  }
}

function titleOf(test: TestCase): string {
  return test.titlePath().filter(Boolean).join(' › ');
}

/** A Playwright fixture that runs a model archive on every backend of a browser. */
export { expect, test, type TabServeFixture } from './testing/fixture.js';
export type { RunOptions } from './testing/run.js';
export type { BackendResult, BackendVerdict } from './testing/verdict.js';

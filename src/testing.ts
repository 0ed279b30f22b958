/** A Playwright fixture that runs a model archive on every backend of a browser. */
export { expect, test, type TabServeFixture } from './tools/testing/fixture.js';
export type { RunOptions } from './tools/testing/run.js';
export type { BackendResult, BackendVerdict } from './tools/testing/verdict.js';

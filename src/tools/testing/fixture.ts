import { enginesOf } from '../../contract/archive-parts.js';
import { test as base, chromium } from '@playwright/test';
import { TabServeError } from '../../contract/errors.js';
import { chromiums, withGpu } from './chromium.js';
import { chooseBackends, DEFAULT_TIMEOUT, readForTest, runArchive, type AppWorker, type RunOptions } from './run.js';
import type { BackendResult } from './verdict.js';

/** The fixture: what a test asks. */
export interface TabServeFixture {
  /**
   * Runs an archive on every backend of the test's browser, each in a worker and a page of its own: opens it, proves it
   * by its golden examples or by a comparison with WASM, measures it, and asks the handler for its answer to `input`. A
   * backend that crashes or hangs has a result too. The test's timeout grows by what the backends may take.
   * @param archive path of a packed archive (`.mar`, `.zip`, `.tgz`) or of a folder, relative to the working directory
   * @throws what is wrong with the archive, with every backend: `model-not-found`, `model-format`, `model-config`,
   *   `unknown-handler`; `invalid-input` if `worker` is set without Playwright's `baseURL`
   */
  run<Answer = unknown>(archive: string, options?: RunOptions): Promise<readonly BackendResult<Answer>[]>;
}

/**
 * Playwright's `test`, with the fixture `tabserve`. Chromium is started with the flags for a GPU; where there is none,
 * SwiftShader computes instead. If Playwright's own Chromium is not installed, and the config names none, an installed
 * one is taken.
 */
export const test = base.extend<{ tabserve: TabServeFixture }>({
  launchOptions: [
    async ({ launchOptions }, use, { project }) => {
      // `channel` and `browserName` as fixtures would depend on this one.
      const { browserName, channel = launchOptions.channel } = project.use;
      if (browserName !== undefined && browserName !== 'chromium') return await use(launchOptions);
      const isNamed = channel !== undefined || launchOptions.executablePath !== undefined;
      await use(withGpu(isNamed ? launchOptions : { ...chromiums(chromium)[0], ...launchOptions }));
    },
    { scope: 'worker' },
  ],
  tabserve: async ({ browser, baseURL }, use, info) => {
    await use({
      async run<Answer>(path: string, options: RunOptions = {}) {
        const { backends: named, input, timeout = DEFAULT_TIMEOUT } = options;
        const app = options.worker === undefined ? undefined : workerOf(options.worker, baseURL);
        const archive = await readForTest(path, app === undefined);
        const backends = chooseBackends(enginesOf(archive), named);
        if (info.timeout > 0) info.setTimeout(info.timeout + timeout * 1000 * backends.length);
        const isNamed = named !== undefined;
        const results = await runArchive({ browser, archive: path, backends, isNamed, timeout, input, app });
        return results as readonly BackendResult<Answer>[];
      },
    });
  },
});

function workerOf(script: string, page: string | undefined): AppWorker {
  if (page === undefined)
    throw new TabServeError(
      'invalid-input',
      `worker: ${script} is of an app, but no app is known. Set use.baseURL, and webServer, in the config of Playwright.`,
    );
  return { script: new URL(script, page).href, page };
}

/** Playwright's `expect`. */
export const expect: typeof base.expect = base.expect;

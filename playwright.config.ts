import { defineConfig } from '@playwright/test';
import { chromiumArgs, chromiumPath } from './scripts/chromium.ts';
import { firefoxPath } from './scripts/firefox.ts';
import { chosenProjects } from './scripts/tests/chosen-projects.ts';
import type { BackendOptions } from './test/browser/fixtures.ts';

const PORT = Number(process.env['PORT'] ?? 4173);
const BACKENDS = ['wasm', 'webgl', 'webgpu'] as const;
/** Projects that ask the server below nothing. If only these are chosen, it is not started. */
const WITHOUT_SERVER = new Set(['unit', 'node']);
const needsServer = chosenProjects(process.argv)?.every((name) => WITHOUT_SERVER.has(name)) !== true;

/** Driven by WebDriver BiDi. */
export const firefox = {
  browserName: 'firefox' as const,
  channel: 'moz-firefox',
  launchOptions: {
    firefoxUserPrefs: { 'webgl.force-enabled': true },
    ...(firefoxPath && { executablePath: firefoxPath }),
  },
};

/**
 * The browser suite runs on every backend. A test that does not depend on the backend is tagged `@once`, and runs on
 * the first. What takes long runs in `npm run test:full` only: a test that is tagged `@full`, and on the other
 * backends one that is tagged `@wasm`.
 */
export default defineConfig<BackendOptions>({
  testDir: 'test',
  fullyParallel: true,
  workers: 2,
  grepInvert: /@full|@long/,
  forbidOnly: !!process.env['CI'],
  // One moment of a busy machine must not hide the answer of all other tests. What passed only on the second try is
  // named at the end, and is to be mended.
  retries: process.env['CI'] ? 1 : 0,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: [[process.env['CI'] ? 'dot' : 'list'], ['./scripts/closing-line-reporter.ts']],
  use: { baseURL: `http://127.0.0.1:${PORT}`, actionTimeout: 15_000 },
  projects: [
    { name: 'unit', fullyParallel: true, testMatch: ['unit/**/*.spec.ts', 'readme/**/*.spec.ts'] },
    // Under Node, without a browser: the engines' contract suite, and the built package's `tabserve/node` and
    // `tabserve serve`.
    { name: 'node', testDir: 'test/node' },
    ...BACKENDS.map((backend, index) => ({
      name: backend,
      testDir: 'test/browser',
      ...(index > 0 && { grepInvert: /@once|@wasm|@full|@long/ }),
      use: {
        backend,
        // The tabs of a context share a process, and what V8 has compiled: `openLastingTab` in
        // `test/browser/fixtures.ts`.
        launchOptions: {
          args: [...chromiumArgs[backend], '--process-per-site'],
          ...(chromiumPath && { executablePath: chromiumPath }),
        },
      },
    })),
    {
      // Only what is tagged `@firefox`; `npm run test:full` runs the whole suite.
      name: 'firefox',
      testDir: 'test/browser',
      testIgnore: ['chaos.spec.ts', 'fuzz.spec.ts'],
      grep: /@firefox/,
      use: { backend: 'wasm', ...firefox },
    },
    // WebKitGTK by WebDriver; one process, since it has one browser.
    { name: 'webkit', testDir: 'test/webkit', fullyParallel: false },
    {
      name: 'packaging',
      testDir: 'test/packaging',
      testIgnore: 'apps/**',
      timeout: 300_000,
      use: { launchOptions: { args: [...chromiumArgs.wasm], ...(chromiumPath && { executablePath: chromiumPath }) } },
    },
  ],
  globalSetup: ['./test/temporary-folder.ts', './test/models/tasks/fill.ts'],
  ...(needsServer && {
    webServer: {
      command: 'node test/server.mjs',
      env: { PORT: String(PORT) },
      port: PORT,
      reuseExistingServer: !process.env['CI'],
      stdout: 'ignore' as const,
    },
  }),
});

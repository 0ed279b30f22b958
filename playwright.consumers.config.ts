import config from './playwright.config.ts';

/** The apps of `npm run consumers`, one after the other: each installs a toolchain and builds. */
export default {
  ...config,
  testDir: 'test/consumers',
  workers: 1,
  timeout: 900_000,
  projects: config.projects!.filter(({ name }) => name === 'packaging').map(({ use }) => ({ name: 'consumers', use })),
  webServer: undefined,
};

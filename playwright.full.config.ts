import config, { firefox } from './playwright.config.ts';
import webnn from './playwright.webnn.config.ts';

/** What is tagged `@long` takes ten minutes, measures something, and is left out by CI and in Firefox. */
const LONG = process.env['CI'] ? '@long' : '$none';

/**
 * Everything: also what `npm test` leaves out (CONTRIBUTING.md lists it), the rest of the suite in Firefox, the engines on
 * Firefox's WebGL, and WebNN where `npm run webnn` has installed its browser.
 */
export default {
  ...config,
  grepInvert: new RegExp(LONG),
  projects: [
    ...config.projects!.map((project) => {
      const { grep: _, grepInvert, ...rest } = project;
      if (project.name === 'firefox') return { ...rest, grepInvert: /@long/ };
      return grepInvert ? { ...rest, grepInvert: new RegExp(`@once|${LONG}`) } : rest;
    }),
    {
      name: 'firefox-webgl',
      testDir: 'test/browser',
      grep: /engines\.spec/,
      grepInvert: /@once/,
      use: { backend: 'webgl' as const, ...firefox },
    },
    ...webnn.projects,
  ],
  use: { ...config.use, full: true },
};

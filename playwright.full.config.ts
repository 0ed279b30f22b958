import config from './playwright.config.ts';

/** Everything: also what `npm test` leaves out because it takes minutes on a GPU that is computed in software, and the rest of the suite in Firefox. */
export default {
  ...config,
  projects: config.projects!.map((project) => ({
    ...project,
    grep: project.name === 'firefox-webgl' ? /engines\.spec/ : /./,
  })),
  use: { ...config.use, full: true },
};

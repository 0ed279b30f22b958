import config from './playwright.config.ts';
import webnn from './playwright.webnn.config.ts';

/** Everything: also what `npm test` leaves out because it takes minutes on a GPU that is computed in software, the rest of the suite in Firefox, and WebNN where `npm run webnn` has installed its browser. */
export default {
  ...config,
  projects: [
    ...config.projects!.map((project) => ({
      ...project,
      grep: project.name === 'firefox-webgl' ? /engines\.spec/ : /./,
    })),
    ...webnn.projects,
  ],
  use: { ...config.use, full: true },
};

import config from './playwright.config.ts';
import { webnnArgs, webnnPath } from './scripts/webnn-chromium.ts';

/**
 * `npm run webnn`: the engines' contract suite on WebNN, and what is true of WebNN alone, in a Chromium whose WebNN
 * works without a window.
 */
export default {
  ...config,
  projects: [
    {
      name: 'webnn',
      testDir: 'test/webnn',
      use: { launchOptions: { args: [...webnnArgs], ...(webnnPath && { executablePath: webnnPath }) } },
    },
  ],
};

import config from './playwright.config.ts';

/** Everything: also what `npm test` leaves out, because it takes minutes on a GPU that is computed in software. */
export default { ...config, use: { ...config.use, full: true } };

/** What only the opening of a model needs. The page imports it when a model is opened. */
export { readDownloadSettings } from '../download-settings.js';
export { browserVerdicts } from './browser-verdicts.js';
export { openModel } from './open.js';

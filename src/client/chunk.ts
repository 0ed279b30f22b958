/** What a page needs only when a model is opened, or later. The page imports it when the first model is opened. */
export { readChoice } from './choice-options.js';
export { readDownloadSettings } from './download-settings.js';
export { browserVerdicts } from './selection/browser-verdicts.js';
export { CompiledFiles } from './selection/compiled-files.js';
export { openModel } from './selection/open.js';

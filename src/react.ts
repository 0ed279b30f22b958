'use client';
/**
 * The React hook. A framework that renders on a server takes this module, and what it imports, for code of the browser.
 */
export { useModel } from './page/frameworks/react.js';
export type { Loading, Model, UseModelOptions } from './page/frameworks/react.js';
export type { FailedModel, IdleModel, LoadingModel, ModelState, ReadyModel } from './page/frameworks/model-state.js';

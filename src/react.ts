'use client';
/**
 * The React hook. A framework that renders on a server takes this module, and what it imports, for code of the browser.
 */
export { useModel } from './page/react/use-model.js';
export type { Loading, Model, UseModelOptions } from './page/react/use-model.js';
export type { FailedModel, IdleModel, LoadingModel, ModelState, ReadyModel } from './page/react/model-state.js';

'use client';
/** The React hook. A framework that renders on a server takes this module, and what it imports, for code of the browser. */
export { useModel } from './react/use-model.js';
export type { Loading, Model, UseModelOptions } from './react/use-model.js';
export type { FailedModel, IdleModel, LoadingModel, ModelState, ReadyModel } from './react/model-state.js';

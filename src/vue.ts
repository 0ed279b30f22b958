/** Vue's composable for a component's model. */
export { useModel } from './page/frameworks/vue.js';
export type { Model } from './page/frameworks/vue.js';
export type { ModelCalls, UseModelOptions } from './page/frameworks/component-model.js';
export type { FailedModel, IdleModel, LoadingModel, ModelState, ReadyModel } from './page/frameworks/model-state.js';

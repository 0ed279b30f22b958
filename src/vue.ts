/** Vue's composables for a component's model, for answers in parts, and for frames. */
export { useFrames, useModel, useStream } from './page/frameworks/vue.js';
export type { Frames, Model, Stream } from './page/frameworks/vue.js';
export type {
  FollowOptions,
  FramesCalls,
  ModelCalls,
  StreamCalls,
  UseModelOptions,
} from './page/frameworks/component-model.js';
export type { FailedModel, IdleModel, LoadingModel, ModelState, ReadyModel } from './page/frameworks/model-state.js';
export type { FramesState, ReadingState, StreamState } from './page/frameworks/reading.js';

'use client';
/**
 * The React hooks. A framework that renders on a server takes this module, and what it imports, for code of the browser.
 */
export { useFrames, useModel, useStream } from './page/frameworks/react.js';
export type { Frames, Loading, Model, Stream, UseModelOptions } from './page/frameworks/react.js';
export type { FollowOptions, FramesCalls, ModelCalls, StreamCalls } from './page/frameworks/component-model.js';
export type { FailedModel, IdleModel, LoadingModel, ModelState, ReadyModel } from './page/frameworks/model-state.js';
export type { FramesState, ReadingState, StreamState } from './page/frameworks/reading.js';

import type { Handler } from '../../contract/handler.js';
import type { ParamsOf, ResultOf } from '../../contract/handler-types.js';
import type { Client } from '../client/client.js';
import type { ClientInput, RequestOptions } from '../requests/request-options.js';
import type { FrameAnswer } from '../streams/frame-reader.js';
import type { ClientFrames, FramesOptions } from '../streams/frame-source.js';

/** When a model is loaded, the default first. */
export const LOADINGS = ['eager', 'lazy'] as const;

/** What `useModel` takes in addition to the options of `connect`. */
export interface UseModelOptions {
  /**
   * `eager`: the model is loaded when the component is mounted. `lazy`: with the first `predict` or `initialize`.
   * @default 'eager'
   */
  readonly loading?: (typeof LOADINGS)[number];
}

/** What a component calls. */
export interface ModelCalls<H extends Handler = Handler, Result = ResultOf<H>> {
  /**
   * Predicts one input, as `Client.predict` does. Before the model is ready, it waits; after an error, it loads the
   * model again. It rejects with `disposed` after the component was unmounted.
   */
  readonly predict: Client<H, Result>['predict'];
  /** As `Client.stream`. Before the model is ready, the first read waits, and it rejects as `predict` does. */
  readonly stream: Client<H, Result>['stream'];
  /** As `Client.frames`. Before the model is ready, the first read waits, and it rejects as `predict` does. */
  readonly frames: Client<H, Result>['frames'];
  /** Loads the model: with `lazy` before the first request, and after an error once more. */
  readonly initialize: () => Promise<void>;
}

/** Starts an answer in parts, and ends it. */
export interface StreamCalls<H extends Handler = Handler> {
  /** Asks the model, as `Client.stream` does. An answer that is still coming ends. */
  readonly start: (input: ClientInput<H>, options?: RequestOptions<ParamsOf<H>>) => void;
  /** Ends the answer. What has come stays. Unmounting the component ends it, too. */
  readonly stop: () => void;
}

/** Options of the frames that a component follows. */
export interface FollowOptions<Answer, Params extends object = object> extends FramesOptions<Params> {
  /** Called with each answer, before the next one is asked for: draw its `frame`, which is closed then. */
  readonly onFrame?: (answer: Answer) => void;
}

/** Starts to follow frames, and ends it. */
export interface FramesCalls<H extends Handler = Handler, Result = ResultOf<H>> {
  /** Answers the frames of a camera, a video or a stream, as `Client.frames` does. Those of another source end. */
  readonly start: (source: ClientFrames<H>, options?: FollowOptions<FrameAnswer<Result>, ParamsOf<H>>) => void;
  /** Ends the frames; the source continues. Unmounting the component ends them, too. */
  readonly stop: () => void;
}

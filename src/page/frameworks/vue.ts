import { onMounted, onUnmounted, shallowRef, type ShallowRef } from 'vue';
import type { Handler } from '../../contract/handler.js';
import type { FormName, PartOf, ResultFor, ResultOf } from '../../contract/handler-types.js';
import type { HandlerName, HandlerOf } from '../../worker/handlers/registry.js';
import type { ConnectOptions } from '../client/connect.js';
import type { ClientOptions } from '../options/client-options.js';
import type { WorkerFactory } from '../workers/worker-factory.js';
import type { FrameAnswer } from '../streams/frame-reader.js';
import { readArguments } from './arguments.js';
import {
  LOADINGS,
  type FramesCalls,
  type ModelCalls,
  type StreamCalls,
  type UseModelOptions,
} from './component-model.js';
import { IDLE, LOADING, type ModelState } from './model-state.js';
import {
  framesReading,
  streamReading,
  type FramesState,
  type Reading,
  type ReadingState,
  type StreamState,
} from './reading.js';
import { sharedClient } from './shared-client.js';

/** What `useModel` returns. */
export interface Model<H extends Handler = Handler, Result = ResultOf<H>> extends ModelCalls<H, Result> {
  /** The state of the model. In a template it is unwrapped: `state.status`, `state.progress`, `state.error`. */
  readonly state: Readonly<ShallowRef<ModelState<H, Result>>>;
}

/**
 * Loads a model for as long as the component is mounted. Components with the same options share one client. Takes the
 * options of `connect`, and `loading`; call it in `setup`.
 *
 * ```ts
 * const { state, predict } = useModel({ model: '/models/nanodet/', handler: 'object_detector' });
 * ```
 */
export function useModel<Name extends HandlerName = HandlerName, Form extends FormName<HandlerOf<Name>> = never>(
  options: ConnectOptions<Name, Form> & UseModelOptions,
): Model<HandlerOf<Name>, ResultFor<HandlerOf<Name>, Form>>;
/**
 * Loads a model for a handler class of the app's own, which its worker module serves with `expose(MyHandler)`.
 * @param factory declared outside of the component, where components share it
 */
export function useModel<H extends Handler, Form extends FormName<H> = never>(
  factory: WorkerFactory,
  options: ClientOptions<H, Form> & UseModelOptions,
): Model<H, ResultFor<H, Form>>;
export function useModel(first: unknown, second?: unknown): unknown {
  const { source, loading } = readArguments(first, second, LOADINGS);
  const client = sharedClient(source);
  const shown = (): ModelState => {
    const state = client.getState();
    return state === IDLE && loading === 'eager' ? LOADING : state;
  };
  const state = shallowRef(shown());
  let unsubscribe: (() => void) | undefined;
  // On a server, nothing is mounted, and nothing loads.
  onMounted(() => {
    unsubscribe = client.subscribe(() => (state.value = shown()));
    state.value = shown();
    if (loading === 'eager') client.open().catch(() => {}); // The state has the error.
  });
  onUnmounted(() => unsubscribe?.());
  const { predict, stream, frames, initialize } = client;
  return { state, predict, stream, frames, initialize };
}

/** What `useStream` returns. */
export interface Stream<H extends Handler = Handler, Result = ResultOf<H>> extends StreamCalls<H> {
  /** What has come so far. In a template it is unwrapped: `state.text`, `state.status`. */
  readonly state: Readonly<ShallowRef<StreamState<PartOf<H> | Result>>>;
}

/**
 * Reads an answer in parts. It ends when the component is unmounted; call it in `setup`.
 *
 * ```ts
 * const { state, start, stop } = useStream(useModel({ model: '/models/writer/', handler: 'text_generator' }));
 * ```
 */
export function useStream<H extends Handler, Result>({ stream }: Model<H, Result>): Stream<H, Result> {
  const { reading, state } = useReading(streamReading<PartOf<H> | Result>());
  return {
    state,
    start: (input, options) => reading.start(stream(input, options as object) as AsyncIterable<PartOf<H> | Result>),
    stop: reading.stop,
  };
}

/** What `useFrames` returns. */
export interface Frames<H extends Handler = Handler, Result = ResultOf<H>> extends FramesCalls<H, Result> {
  /** The latest answer. In a template it is unwrapped: `state.result`, `state.status`. */
  readonly state: Readonly<ShallowRef<FramesState<Result>>>;
}

/**
 * Answers the frames of a camera or a video. It ends when the component is unmounted; call it in `setup`.
 *
 * ```ts
 * const { state, start, stop } = useFrames(useModel({ model: '/models/nanodet/', handler: 'object_detector' }));
 * ```
 */
export function useFrames<H extends Handler, Result>({ frames }: Model<H, Result>): Frames<H, Result> {
  const { reading, state } = useReading(framesReading<Result>());
  return {
    state,
    start: (source, { onFrame, ...options } = {}) =>
      reading.start(frames(source, options as object) as AsyncIterable<FrameAnswer<Result>>, onFrame),
    stop: reading.stop,
  };
}

/** Makes the state of a store reactive, and ends what it reads when the component is unmounted. */
function useReading<Item, State extends ReadingState>(
  reading: Reading<Item, State>,
): { readonly reading: Reading<Item, State>; readonly state: ShallowRef<State> } {
  const state = shallowRef(reading.getState()) as ShallowRef<State>;
  reading.subscribe(() => (state.value = reading.getState()));
  onUnmounted(reading.stop);
  return { reading, state };
}

import { onMount } from 'svelte';
import { createSubscriber } from 'svelte/reactivity';
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
  /** The state of the model, which markup and effects follow: `model.state.status`. */
  readonly state: ModelState<H, Result>;
}

/**
 * Loads a model for as long as the component is mounted. Components with the same options share one client. Takes the
 * options of `connect`, and `loading`; call it while the component is made.
 *
 * ```ts
 * const model = useModel({ model: '/models/nanodet/', handler: 'object_detector' });
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
  const follow = createSubscriber((update) => client.subscribe(update));
  // On a server, nothing is mounted, and nothing loads.
  onMount(() => {
    const unsubscribe = client.subscribe(() => {});
    if (loading === 'eager') client.open().catch(() => {}); // The state has the error.
    return unsubscribe;
  });
  return {
    get state(): ModelState {
      follow();
      const state = client.getState();
      return state === IDLE && loading === 'eager' ? LOADING : state;
    },
    predict: client.predict,
    stream: client.stream,
    frames: client.frames,
    initialize: client.initialize,
  };
}

/** What `useStream` returns. */
export interface Stream<H extends Handler = Handler, Result = ResultOf<H>> extends StreamCalls<H> {
  /** What has come so far, which markup and effects follow: `stream.state.text`. */
  readonly state: StreamState<PartOf<H> | Result>;
}

/**
 * Reads an answer in parts. It ends when the component is unmounted; call it while the component is made.
 *
 * ```ts
 * const tale = useStream(useModel({ model: '/models/writer/', handler: 'text_generator' }));
 * ```
 */
export function useStream<H extends Handler, Result>({ stream }: Model<H, Result>): Stream<H, Result> {
  const { reading, read } = useReading(streamReading<PartOf<H> | Result>());
  return {
    get state() {
      return read();
    },
    start: (input, options) => reading.start(stream(input, options as object) as AsyncIterable<PartOf<H> | Result>),
    stop: reading.stop,
  };
}

/** What `useFrames` returns. */
export interface Frames<H extends Handler = Handler, Result = ResultOf<H>> extends FramesCalls<H, Result> {
  /** The latest answer, which markup and effects follow: `frames.state.result`. */
  readonly state: FramesState<Result>;
}

/**
 * Answers the frames of a camera or a video. It ends when the component is unmounted; call it while the component is
 * made.
 *
 * ```ts
 * const frames = useFrames(useModel({ model: '/models/nanodet/', handler: 'object_detector' }));
 * ```
 */
export function useFrames<H extends Handler, Result>({ frames }: Model<H, Result>): Frames<H, Result> {
  const { reading, read } = useReading(framesReading<Result>());
  return {
    get state() {
      return read();
    },
    start: (source, { onFrame, ...options } = {}) =>
      reading.start(frames(source, options as object) as AsyncIterable<FrameAnswer<Result>>, onFrame),
    stop: reading.stop,
  };
}

/** Makes the state of a store reactive, and ends what it reads when the component is unmounted. */
function useReading<Item, State extends ReadingState>(
  reading: Reading<Item, State>,
): { readonly reading: Reading<Item, State>; readonly read: () => State } {
  const follow = createSubscriber((update) => reading.subscribe(update));
  onMount(() => reading.stop);
  return { reading, read: () => (follow(), reading.getState()) };
}

import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { TabServeError } from '../../contract/errors.js';
import type { Handler } from '../../contract/handler.js';
import type { FormName, PartOf, ResultFor, ResultOf } from '../../contract/handler-types.js';
import type { HandlerName, HandlerOf } from '../../worker/handlers/registry.js';
import type { ConnectOptions } from '../client/connect.js';
import type { ClientOptions } from '../options/client-options.js';
import type { WorkerFactory } from '../workers/worker-factory.js';
import type { FrameAnswer } from '../streams/frame-reader.js';
import { readArguments } from './arguments.js';
import type { FramesCalls, ModelCalls, StreamCalls } from './component-model.js';
import { IDLE, LOADING, type ModelState, type ReadyModel } from './model-state.js';
import {
  framesReading,
  streamReading,
  type FramesState,
  type Reading,
  type ReadingState,
  type StreamState,
} from './reading.js';
import { checkFunctions, isSameData, sharedClient } from './shared-client.js';

const LOADINGS = ['eager', 'lazy', 'suspense'] as const;

/**
 * When a model is loaded: as soon as the component is mounted, with the first `predict`, or before the component is
 * shown.
 */
export type Loading = (typeof LOADINGS)[number];

/** What `useModel` takes in addition to the options of `connect`. */
export interface UseModelOptions<L extends Loading = Loading> {
  /**
   * `eager`: the model is loaded when the component is mounted. `lazy`: with the first `predict` or `initialize`.
   * `suspense`: as `eager`, and until the model is ready React shows the fallback of the `<Suspense>` around the
   * component; an error goes to the error boundary around it. @default 'eager'
   */
  readonly loading?: L;
}

/** What `useModel` returns: the state of the model, and functions that stay the same in every render. */
export type Model<
  H extends Handler = Handler,
  Result = ResultOf<H>,
  L extends Loading = Loading,
> = (L extends 'suspense' ? ReadyModel<H, Result> : ModelState<H, Result>) & ModelCalls<H, Result>;

/**
 * Loads a model for as long as the component is mounted. Components with the same options share one client; options may
 * be written inline. Takes the options of `connect`, and `loading`.
 *
 * ```tsx
 * const detector = useModel({ model: '/models/nanodet/', handler: 'object_detector' });
 * if (detector.status === 'error') return <p role="alert">{detector.error.message}</p>;
 * ```
 */
export function useModel<
  Name extends HandlerName = HandlerName,
  Form extends FormName<HandlerOf<Name>> = never,
  L extends Loading = 'eager',
>(
  options: ConnectOptions<Name, Form> & UseModelOptions<L>,
): Model<HandlerOf<Name>, ResultFor<HandlerOf<Name>, Form>, L>;
/**
 * Loads a model for a handler class of the app's own, which its worker module serves with `expose(MyHandler)`.
 *
 * ```tsx
 * const makeWorker = () => new Worker(new URL('./birds.worker.ts', import.meta.url), { type: 'module' });
 *
 * const birds = useModel<BirdClassifier>(makeWorker, { model: '/models/birds/' });
 * ```
 * @param factory declared outside of the component, where components share it, and with `loading: 'suspense'`
 */
export function useModel<H extends Handler, Form extends FormName<H> = never>(
  factory: WorkerFactory,
  options: ClientOptions<H, Form> & UseModelOptions<'suspense'> & { readonly loading: 'suspense' },
): Model<H, ResultFor<H, Form>, 'suspense'>;
export function useModel<H extends Handler, Form extends FormName<H> = never>(
  factory: WorkerFactory,
  options: ClientOptions<H, Form> & UseModelOptions<'eager' | 'lazy'>,
): Model<H, ResultFor<H, Form>, 'eager' | 'lazy'>;
export function useModel(first: unknown, second?: unknown): unknown {
  const { source, loading } = readArguments(first, second, LOADINGS);
  const [held, hold] = useState(() => sharedClient(source));
  const client = isSameData(held.source, source) ? held : sharedClient(source);
  if (client !== held) hold(client);
  // When it is mounted, or shown again by an <Activity>, its children's effects may call before its own effect runs.
  client.reopen();

  const state = useSyncExternalStore(client.subscribe, client.getState, () => IDLE);
  // The effect is going to load it: the server, and the first render, show this already.
  const shown = state === IDLE && loading !== 'lazy' ? LOADING : state;
  useEffect(() => {
    if (loading !== 'lazy') client.open().catch(() => {}); // The state has the error.
  }, [client, loading]);

  if (loading === 'suspense' && shown.status !== 'ready') {
    if (shown.status === 'error') {
      client.forget();
      throw shown.error;
    }
    if (typeof document === 'undefined') throw notHere();
    checkFunctions(client);
    throw client.open();
  }
  return useMemo(() => {
    const { predict, stream, frames, initialize } = client;
    return { ...shown, predict, stream, frames, initialize };
  }, [shown, client]);
}

/** An answer that comes in parts: its state, and functions that stay the same as long as the model does. */
export type Stream<H extends Handler = Handler, Result = ResultOf<H>> = StreamState<PartOf<H> | Result> &
  StreamCalls<H>;

/**
 * Reads an answer in parts, and renders the component with each of them. It ends when the component is unmounted.
 *
 * ```tsx
 * const writer = useModel({ model: '/models/writer/', handler: 'text_generator' });
 * const tale = useStream(writer);
 * return <button onClick={() => tale.start('Once upon a time')}>{tale.text || 'Write'}</button>;
 * ```
 */
export function useStream<H extends Handler, Result>(
  model: ModelState<H, Result> & Pick<ModelCalls<H, Result>, 'stream'>,
): Stream<H, Result> {
  const { stream } = model;
  const reading = useReading(() => streamReading<PartOf<H> | Result>());
  const state = useSyncExternalStore(reading.subscribe, reading.getState, reading.getState);
  const start = useCallback<StreamCalls<H>['start']>(
    (input, options) => reading.start(stream(input, options as object) as AsyncIterable<PartOf<H> | Result>),
    [reading, stream],
  );
  return useMemo(() => ({ ...state, start, stop: reading.stop }), [state, start, reading]);
}

/** Frames that a model answers: their state, and functions that stay the same as long as the model does. */
export type Frames<H extends Handler = Handler, Result = ResultOf<H>> = FramesState<Result> & FramesCalls<H, Result>;

/**
 * Answers the frames of a camera or a video, and renders the component with each answer. It ends when the component is
 * unmounted.
 *
 * ```tsx
 * const detector = useModel({ model: '/models/nanodet/', handler: 'object_detector' });
 * const frames = useFrames(detector);
 * const start = async () => frames.start(await navigator.mediaDevices.getUserMedia({ video: true }));
 * ```
 */
export function useFrames<H extends Handler, Result>(
  model: ModelState<H, Result> & Pick<ModelCalls<H, Result>, 'frames'>,
): Frames<H, Result> {
  const { frames } = model;
  const reading = useReading(() => framesReading<Result>());
  const state = useSyncExternalStore(reading.subscribe, reading.getState, reading.getState);
  const start = useCallback<FramesCalls<H, Result>['start']>(
    (source, { onFrame, ...options } = {}) =>
      reading.start(frames(source, options as object) as AsyncIterable<FrameAnswer<Result>>, onFrame),
    [reading, frames],
  );
  return useMemo(() => ({ ...state, start, stop: reading.stop }), [state, start, reading]);
}

/** Returns the store of a component, which ends when the component is unmounted. */
function useReading<Item, State extends ReadingState>(make: () => Reading<Item, State>): Reading<Item, State> {
  const [reading] = useState(make);
  useEffect(() => reading.stop, [reading]);
  return reading;
}

function notHere(): TabServeError {
  const message =
    "A model runs in the browser, so useModel with loading: 'suspense' cannot render on a server. React shows the fallback of the <Suspense> around the component. " +
    'Where that is an error, as when Next.js builds a page, render the component in the browser only: dynamic(load, { ssr: false }).';
  return new TabServeError('unsupported', message);
}

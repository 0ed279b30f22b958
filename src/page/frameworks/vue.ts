import { onMounted, onUnmounted, shallowRef, type ShallowRef } from 'vue';
import type { Handler } from '../../contract/handler.js';
import type { FormName, ResultFor, ResultOf } from '../../contract/handler-types.js';
import type { HandlerName, HandlerOf } from '../../worker/handlers/registry.js';
import type { ConnectOptions } from '../client/connect.js';
import type { ClientOptions } from '../options/client-options.js';
import type { WorkerFactory } from '../workers/worker-factory.js';
import { readArguments } from './arguments.js';
import { LOADINGS, type ModelCalls, type UseModelOptions } from './component-model.js';
import { IDLE, LOADING, type ModelState } from './model-state.js';
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
  return { state, predict: client.predict, initialize: client.initialize };
}

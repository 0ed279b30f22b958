import { onMount } from 'svelte';
import { createSubscriber } from 'svelte/reactivity';
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
    initialize: client.initialize,
  };
}

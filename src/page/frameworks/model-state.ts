import type { Progress } from '../../contract/archive.js';
import type { Backend } from '../../contract/backends.js';
import type { TabServeError } from '../../contract/errors.js';
import type { Handler } from '../../contract/handler.js';
import type { ResultOf } from '../../contract/handler-types.js';
import type { Client } from '../client/client.js';

interface Nothing {
  readonly progress: undefined;
  readonly error: undefined;
  readonly backend: undefined;
  readonly client: undefined;
}

/** A model that is not loaded yet, because `loading` is `lazy`. */
export interface IdleModel extends Nothing {
  readonly status: 'idle';
}

/** A model that is being downloaded and opened. */
export interface LoadingModel extends Omit<Nothing, 'progress'> {
  readonly status: 'loading';
  /** Undefined until the first bytes have arrived. */
  readonly progress: Progress | undefined;
}

/** A model that takes requests. While a lost worker is replaced, it is still ready: requests wait. */
export interface ReadyModel<H extends Handler = Handler, Result = ResultOf<H>> extends Omit<
  Nothing,
  'backend' | 'client'
> {
  readonly status: 'ready';
  /** The backend that runs the model; it changes when another one takes over. */
  readonly backend: Backend;
  /** For what the hook does not have: `handle`, `explain`, `describe`, `metrics`, `on`. The hook disposes of it. */
  readonly client: Client<H, Result>;
}

/** A model that could not be loaded, or that lost its workers for good. */
export interface FailedModel extends Omit<Nothing, 'error'> {
  readonly status: 'error';
  readonly error: TabServeError;
}

/** What a component knows of a model; `status` tells the four states apart. */
export type ModelState<H extends Handler = Handler, Result = ResultOf<H>> =
  | IdleModel
  | LoadingModel
  | ReadyModel<H, Result>
  | FailedModel;

const NOTHING: Nothing = { progress: undefined, error: undefined, backend: undefined, client: undefined };

export const IDLE: IdleModel = { ...NOTHING, status: 'idle' };

export const LOADING: LoadingModel = { ...NOTHING, status: 'loading' };

export function loadingState(progress: Progress): LoadingModel {
  return { ...LOADING, progress };
}

export function readyState(backend: Backend, client: Client): ReadyModel {
  return { ...NOTHING, status: 'ready', backend, client };
}

export function failedState(error: TabServeError): FailedModel {
  return { ...NOTHING, status: 'error', error };
}

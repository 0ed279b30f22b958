import type { Handler } from '../../contract/handler.js';
import type { ResultOf } from '../../contract/handler-types.js';
import type { Client } from '../client/client.js';

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
  /** Loads the model: with `lazy` before the first `predict`, and after an error once more. */
  readonly initialize: () => Promise<void>;
}

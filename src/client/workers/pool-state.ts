import type { Backend } from '../../contract/backends.js';
import type { TabServeError } from '../../contract/errors.js';
import { servingOf, type Serving } from '../../contract/settings.js';
import { Backlog } from '../requests/backlog.js';
import { Backoff } from './backoff.js';
import type { PoolOptions } from './pool-options.js';
import type { OpenLoss } from './recovery.js';
import { computesElsewhere } from './slot.js';
import { Slots } from './slots.js';

/** The state of a pool: events change it, and `reconcile` compares it with what it should be. */
export class PoolState {
  readonly slots: Slots;
  /** The requests that no worker has yet. */
  readonly backlog = new Backlog();
  readonly backoff: Backoff;
  settings: Serving = servingOf({});
  /** The backend of the worker that was opened last; undefined before the first one. */
  backend: Backend | undefined;
  /** Why the pool has failed and opens no more workers. */
  failure: TabServeError | undefined;
  /** When the pool may replace its last worker, which was lost, by the pool's clock. */
  healAt = 0;
  /** When the pool may open a worker beside others, by the pool's clock. */
  growAt = 0;
  /** The loss that is not healed yet. */
  loss: OpenLoss | undefined;

  constructor(options: PoolOptions) {
    this.slots = new Slots(options);
    this.backoff = new Backoff(options.maxRetryTimeoutInSec);
  }

  /** Whether requests are accepted: there is a worker, or the pool is replacing a lost one. */
  get serving(): boolean {
    return this.backend !== undefined && this.failure === undefined;
  }

  /** The number of workers that stay, even if they are idle. A GPU has one worker. */
  get minWorkers(): number {
    return computesElsewhere(this.backend!) ? 1 : this.settings.minWorkers;
  }

  /** The number of workers that there should be: `minWorkers`, and while requests wait one more than there are, up to `maxWorkers`. */
  get wantedWorkers(): number {
    if (computesElsewhere(this.backend!)) return 1;
    const { minWorkers, maxWorkers } = this.settings;
    const { isWaiting, hasReplays } = this.backlog;
    const requestsWait = isWaiting && !this.slots.free({ hasReplays });
    return Math.min(maxWorkers, Math.max(minWorkers, requestsWait ? this.slots.counted.length + 1 : 0));
  }

  /** Forgets every earlier worker and loss. */
  restart(settings: Serving, { isShared }: { readonly isShared: boolean }): void {
    this.settings = isShared ? { ...settings, minWorkers: 1, maxWorkers: 1, batchSize: 1, maxBatchDelay: 0 } : settings;
    this.failure = undefined;
    this.backend = undefined;
    this.growAt = 0;
    this.backoff.restart();
  }

  /** Decides when to replace the last worker, which was lost. Returns false if it is too late for another attempt. */
  scheduleHealing(now: number): boolean {
    const at = this.backoff.next(now);
    this.healAt = at ?? Infinity;
    return at !== undefined;
  }
}

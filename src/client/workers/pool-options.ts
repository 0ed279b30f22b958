import type { Backend, Skipped } from '../../contract/backends.js';
import type { TabServeError } from '../../contract/errors.js';
import type { HandleAnswer } from '../../contract/wire.js';
import type { Batch } from '../requests/batch.js';
import type { CoreBudget } from './budget.js';
import type { Clock } from '../../shared/clock.js';
import type { Recovery } from './recovery.js';
import type { OpenedWorker, WearLimits } from './slot.js';

/** Says which worker to open. */
export interface OpenWorker {
  /** Backends that are no longer tried, with the reasons. */
  readonly demoted: readonly Skipped[];
  /** The only backend to try: the one that the other workers run on. */
  readonly only?: Backend;
  /** The backend to try first: the one that the lost worker ran on. */
  readonly first?: Backend;
  /** Aborts when the pool is closed. */
  readonly signal: AbortSignal;
}

/** What a pool needs: its clock, its opener and its listeners are injected. */
export interface PoolOptions extends WearLimits {
  readonly clock: Clock;
  readonly cores: CoreBudget;
  readonly open: (request: OpenWorker) => Promise<OpenedWorker>;
  /** Seconds after a loss in which the pool tries to open another worker. Then it fails. */
  readonly maxRetryTimeoutInSec: number;
  readonly log: (what: string) => void;
  readonly on: PoolEvents;
}

/** Events of a pool. */
export interface PoolEvents {
  /** The workers run on another backend from now on. */
  backend(backend: Backend): void;
  /** A job left the queue after so many milliseconds. */
  queued(milliseconds: number): void;
  /** A batch came back, answered or failed. @param roundTrip in milliseconds */
  ran(batch: Batch, answer: HandleAnswer, roundTrip: number): void;
  recover(recovery: Recovery): void;
  fail(error: TabServeError): void;
}

import type { TabServeError } from '../../contract/errors.js';
import type { Serving } from '../../contract/settings.js';
import type { Job } from './job.js';

/** What may be sent now, or when there will be something. */
export type Due =
  | { readonly jobs: readonly Job[] }
  | { readonly jobs: undefined; /** Milliseconds; undefined if nothing waits. */ readonly dueIn: number | undefined };

/** Jobs of one priority, in order. */
interface Lane {
  readonly priority: number;
  readonly jobs: Set<Job>;
  /** The highest order that was ever in it. */
  last: number;
}

/** Jobs that wait for a worker: the highest priority first, and in order of arrival within one. */
export class JobQueue {
  /** By priority, highest first. */
  readonly #lanes: Lane[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** To its place by order of the calls: one whose input took time to prepare may come late. */
  push(job: Job): void {
    const lane = this.#lane(job.priority);
    const later = job.order < lane.last ? [...lane.jobs].filter(({ order }) => order > job.order) : [];
    for (const one of later) lane.jobs.delete(one);
    for (const one of [job, ...later]) lane.jobs.add(one);
    lane.last = Math.max(lane.last, job.order);
    this.#size += 1;
    job.onAbandon = () => this.#remove(job);
  }

  /**
   * Takes the next batch: a job that stands alone, or as many of the next that may run together, up to `batchSize`. Fewer than that wait
   * until the oldest of them has been here for `maxBatchDelay`; or for more, where only a batch that is `full` will do.
   */
  take({ batchSize, maxBatchDelay }: Pick<Serving, 'batchSize' | 'maxBatchDelay'>, { full = false } = {}): Due {
    const jobs: Job[] = [];
    let closed = false;
    for (const job of this.#inOrder()) {
      closed = jobs.length > 0 && !job.sociable;
      if (closed) break;
      jobs.push(job);
      closed = !job.sociable || jobs.length === batchSize;
      if (closed) break;
    }
    if (jobs.length === 0 || (full && !closed)) return { jobs: undefined, dueIn: undefined };
    const dueIn = closed ? 0 : Math.min(...jobs.map(({ since }) => since)) + maxBatchDelay - performance.now();
    if (dueIn > 0) return { jobs: undefined, dueIn };
    for (const job of jobs) this.#remove(job);
    return { jobs };
  }

  rejectAll(error: TabServeError): void {
    for (const job of this.#inOrder()) {
      this.#remove(job);
      job.reject(error);
    }
  }

  *#inOrder(): Iterable<Job> {
    for (const { jobs } of this.#lanes.slice()) yield* jobs;
  }

  #lane(priority: number): Lane {
    const known = this.#lanes.find((lane) => lane.priority === priority);
    if (known) return known;
    const lane: Lane = { priority, jobs: new Set(), last: 0 };
    const lower = this.#lanes.findIndex((other) => other.priority < priority);
    this.#lanes.splice(lower < 0 ? this.#lanes.length : lower, 0, lane);
    return lane;
  }

  #remove(job: Job): void {
    job.onAbandon = undefined;
    const at = this.#lanes.findIndex(({ priority }) => priority === job.priority);
    const lane = this.#lanes[at];
    if (!lane?.jobs.delete(job)) return;
    this.#size -= 1;
    if (lane.jobs.size === 0) this.#lanes.splice(at, 1);
  }
}

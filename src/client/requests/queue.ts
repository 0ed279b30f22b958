import type { TabServeError } from '../../contract/errors.js';
import type { Serving } from '../../contract/settings.js';
import type { Job } from './job.js';

/** The jobs of the next batch, or when there will be one. */
export type NextBatch =
  | { readonly jobs: readonly Job[] }
  | {
      readonly jobs: undefined;
      /** Milliseconds; undefined if only another job can complete it. */ readonly dueIn: number | undefined;
    };

/** Jobs of one priority, in order. */
interface Lane {
  readonly priority: number;
  readonly jobs: Set<Job>;
  /** The highest order that was ever in it. */
  last: number;
}

/** Jobs that wait for a worker: the highest priority first, in order of the calls within one priority. */
export class JobQueue {
  /** By priority, highest first. */
  readonly #lanes: Lane[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Inserts a job by the order of the calls: a job whose input took time to prepare may arrive late. */
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
   * Takes the next batch: one exclusive job, or up to `batchSize` batchable ones. A batch that is not full waits until its oldest job
   * has been here for `maxBatchDelay` ms.
   * @param now the time, by `performance.now()`
   * @param onlyFull whether to take nothing but a batch that no other job could join
   * @param explanations whether to take explanations; otherwise they let other jobs pass
   */
  take(
    { batchSize, maxBatchDelay }: Pick<Serving, 'batchSize' | 'maxBatchDelay'>,
    now: number,
    { onlyFull = false, explanations = true } = {},
  ): NextBatch {
    const jobs: Job[] = [];
    let full = false;
    for (const job of this.#inOrder()) {
      if (job.isExplanation && !explanations) continue;
      full = jobs.length > 0 && !job.batchable;
      if (full) break;
      jobs.push(job);
      full = !job.batchable || jobs.length === batchSize;
      if (full) break;
    }
    if (jobs.length === 0 || (onlyFull && !full)) return { jobs: undefined, dueIn: undefined };
    const dueIn = full ? 0 : Math.min(...jobs.map(({ arrivedAt }) => arrivedAt)) + maxBatchDelay - now;
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

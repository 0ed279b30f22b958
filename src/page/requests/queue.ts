import { TabServeError } from '../../contract/errors.js';
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
   * Takes the next batch: one exclusive job, or up to `batchSize` batchable ones. A batch that is not full waits until
   * its oldest job has waited for `maxBatchDelay` ms.
   * @param now the time, by `performance.now()`
   * @param onlyFull whether to take only a batch that no other job could join
   * @param explanations whether to take explanations; otherwise other jobs overtake them
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

/** How full the queue is, in requests. */
export interface JobQueueStatus {
  readonly remainingCapacity: number;
  readonly pendingRequests: number;
}

/**
 * All requests that no worker has yet: those in the queue, those whose input is being prepared, and those to be
 * replayed.
 */
export class Backlog {
  readonly #queue = new JobQueue();
  #preparing = 0;
  #replays: readonly Job[] = [];

  /** Whether a request waits in the queue. */
  get isWaiting(): boolean {
    return this.#queue.size > 0;
  }

  /** Whether a job waits to be replayed. */
  get hasReplays(): boolean {
    if (this.#replays.length === 0) return false;
    this.#replays = this.#replays.filter(({ settled }) => !settled);
    return this.#replays.length > 0;
  }

  /** Replays count as running: they have left the queue before. */
  status(jobQueueSize: number): JobQueueStatus {
    const pendingRequests = this.#queue.size + this.#preparing;
    return { remainingCapacity: Math.max(0, jobQueueSize - pendingRequests), pendingRequests };
  }

  /** @throws `queue-full` if the queue has no slot for another request */
  checkRoom(jobQueueSize: number): void {
    const { remainingCapacity, pendingRequests } = this.status(jobQueueSize);
    if (remainingCapacity > 0) return;
    const message = `The queue is full: ${pendingRequests} requests wait, and jobQueueSize is ${jobQueueSize}. Send fewer requests, or try again later.`;
    throw new TabServeError('queue-full', message);
  }

  /** Reserves a slot in the queue for a request whose input is still being prepared. */
  async prepare<T>(preparing: Promise<T>): Promise<T> {
    this.#preparing += 1;
    try {
      return await preparing;
    } finally {
      this.#preparing -= 1;
    }
  }

  push(job: Job): void {
    this.#queue.push(job);
  }

  /** Takes the next batch from the queue; see `JobQueue.take`. */
  take(
    settings: Pick<Serving, 'batchSize' | 'maxBatchDelay'>,
    now: number,
    options: { readonly onlyFull: boolean; readonly explanations: boolean },
  ): NextBatch {
    return this.#queue.take(settings, now, options);
  }

  /** Adds jobs whose worker was lost: each is sent once more, alone. */
  replay(jobs: readonly Job[]): void {
    this.#replays = [...this.#replays, ...jobs];
  }

  takeReplay(): Job | undefined {
    if (!this.hasReplays) return undefined;
    // Explanations take long, so the others come first.
    const job = this.#replays.find(({ isExplanation }) => !isExplanation) ?? this.#replays[0]!;
    this.#replays = this.#replays.filter((other) => other !== job);
    return job;
  }

  rejectAll(error: TabServeError): void {
    for (const job of this.#replays) job.reject(error);
    this.#replays = [];
    this.#queue.rejectAll(error);
  }
}

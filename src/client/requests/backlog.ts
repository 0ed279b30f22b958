import { TabServeError } from '../../contract/errors.js';
import type { Serving } from '../../contract/settings.js';
import type { Job } from './job.js';
import { JobQueue, type NextBatch } from './queue.js';

/** How full the queue is, in requests. */
export interface JobQueueStatus {
  readonly remainingCapacity: number;
  readonly pendingRequests: number;
}

/** All requests that no worker has yet: those in the queue, those whose input is being prepared, and those to be replayed. */
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

  /** @throws `queue-full` if another request has no place */
  checkRoom(jobQueueSize: number): void {
    const { remainingCapacity, pendingRequests } = this.status(jobQueueSize);
    if (remainingCapacity > 0) return;
    const message = `The queue is full: ${pendingRequests} requests wait, and jobQueueSize is ${jobQueueSize}. Send fewer requests, or try again later.`;
    throw new TabServeError('queue-full', message);
  }

  /** Reserves a place in the queue for a request whose input is still being prepared. */
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
    settings: Serving,
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
    // Explanations take long: the others come first.
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

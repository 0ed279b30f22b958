import { transfer } from 'comlink';
import { TabServeError } from '../../contract/errors.js';
import type { HandleAnswer, HandleRequest } from '../../contract/wire.js';
import type { Message } from './inputs.js';
import type { Job } from './job.js';

/** Jobs that go to a worker together: one message there, one answer back. */
export class Batch {
  /** Rows. */
  readonly size: number;
  readonly #jobs: readonly Job[];

  /** @param onAbandon is called when nobody waits for any of them any more */
  constructor(jobs: readonly Job[], onAbandon: (batch: Batch) => void) {
    this.#jobs = jobs;
    this.size = jobs.reduce((sum, { size }) => sum + size, 0);
    for (const job of jobs) job.onAbandon = () => this.pending.length === 0 && onAbandon(this);
  }

  get id(): string {
    return this.#jobs[0]!.id;
  }

  /** Those that somebody still waits for. */
  get pending(): readonly Job[] {
    return this.#jobs.filter(({ settled }) => !settled);
  }

  /** @throws `not-cloneable` if there is no memory for a copy */
  message(): HandleRequest {
    const messages = this.#messages();
    const { id, request } = this.#jobs[0]!;
    const ids = this.#jobs.flatMap((job) =>
      Array.from({ length: job.size }, (_, index) => (job.size === 1 ? job.id : `${job.id}/${index}`)),
    );
    const params = this.#jobs.flatMap((job) => Array.from({ length: job.size }, () => job.params));
    return transfer({ id, request, ids, params, rows: messages.map(({ value }) => value) }, [
      ...new Set(messages.flatMap(({ transferables }) => transferables)),
    ]);
  }

  #messages(): readonly Message[] {
    try {
      return this.#jobs.flatMap((job) => job.messages());
    } catch (cause) {
      throw new TabServeError(
        'not-cloneable',
        `The input could not be copied: ${cause instanceof Error ? cause.message : String(cause)}`,
        { cause },
      );
    }
  }

  /** What `message` gave could not be sent: each job may go by itself. */
  takeApart(): readonly Job[] {
    for (const job of this.pending) job.rollback();
    return this.pending;
  }

  resolve({ rows, timings }: HandleAnswer): void {
    let from = 0;
    for (const job of this.#jobs)
      job.resolve({ timings, batchSize: this.size, rows: rows.slice(from, (from += job.size)) });
  }

  reject(error: TabServeError): void {
    for (const job of this.#jobs) job.reject(error);
  }
}

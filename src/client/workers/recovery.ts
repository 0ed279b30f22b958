import type { Backend } from '../../contract/backends.js';
import { TabServeError } from '../../contract/errors.js';
import type { Job } from '../requests/job.js';

/** A worker was lost, and its requests are answered again. */
export interface Recovery {
  readonly backend: Backend;
  /** Why the worker was lost. */
  readonly cause: TabServeError;
  /** Requests in it that were sent again. */
  readonly replayed: number;
  /** Requests in it that were rejected: their input was gone, or they had ended another worker before. */
  readonly failed: number;
  /** Milliseconds from the loss until all of this was done and a worker took requests again. */
  readonly took: number;
}

/** A loss that is not healed yet. */
export interface OpenLoss extends Pick<Recovery, 'cause' | 'replayed' | 'failed'> {
  /** When the first worker was lost. */
  readonly at: number;
}

/** Returns the open loss with another loss added to it: the first one is the cause, and the requests of all are counted. */
export function addLoss(before: OpenLoss | undefined, loss: OpenLoss): OpenLoss {
  if (!before) return loss;
  return { ...before, replayed: before.replayed + loss.replayed, failed: before.failed + loss.failed };
}

/**
 * Decides about each job of a lost worker. A job that the page can send again is replayed once, alone, so that a job that ends its worker
 * again fails for itself. The others are rejected.
 * @returns the jobs to replay
 */
export function triage(jobs: readonly Job[], error: TabServeError): readonly Job[] {
  return jobs.filter((job) => {
    if (job.lostWorker) job.reject(endedTwo(error, job.lostWorker));
    else if (!job.replayable) job.reject(inputGone(error));
    else {
      job.lostWorker = error;
      return true;
    }
    return false;
  });
}

function inputGone(cause: TabServeError): TabServeError {
  const message = `The worker was lost, and this request's input with it: ${cause.message} Send it again, or do not transfer it.`;
  return new TabServeError('worker-lost', message, { cause });
}

function endedTwo(cause: TabServeError, first: TabServeError): TabServeError {
  if (cause.code === 'out-of-memory') return cause;
  const message = `This request has ended two workers, the second one alone: ${cause.message} The first: ${first.message}`;
  return new TabServeError('worker-lost', message, { cause });
}

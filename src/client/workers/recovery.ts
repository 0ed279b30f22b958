import type { Backend } from '../../contract/backends.js';
import { TabServeError } from '../../contract/errors.js';
import type { Job, Loss } from '../requests/job.js';

/** What happened when a worker was lost and another one took over. */
export interface Recovery {
  readonly backend: Backend;
  /** Why the worker was lost. */
  readonly cause: TabServeError;
  /** The number of its requests that were sent again. */
  readonly replayed: number;
  /** The number of its requests that were rejected: their input was lost, or they had ended another worker before, each time alone. */
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
 * Decides about each job of a lost worker. A job that the page can send again is replayed, alone. A job that has lost two workers in which it was
 * alone is to blame, and is rejected; so a job that lost its first worker together with others is replayed twice at most. Also rejected are jobs whose
 * input is gone; explanations that have lost two workers, whatever ran beside them; and streams of which a part was read, since another run may send other parts.
 * @param isHandover whether it was a session that tabs share, whose host has ended. No job is to blame for that
 * @returns the jobs to replay
 */
export function triage(jobs: readonly Job[], loss: Loss, { isHandover = false } = {}): readonly Job[] {
  return jobs.filter((job) => {
    const before = job.isExplanation ? job.losses[0] : loss.alone && job.losses.find(({ alone }) => alone);
    if (isHandover && job.losses.length >= MOST_HANDOVERS) job.reject(endedTabs(loss.error));
    else if (!isHandover && before) job.reject(endedTwo(job, loss.error, before.error));
    else if (job.parts?.wasRead) job.reject(partsGone(loss.error));
    else if (!job.replayable) job.reject(inputGone(loss.error));
    else {
      job.lose(loss);
      return true;
    }
    return false;
  });
}

/** A job that has lost so many hosts of a shared session, and then another, is not sent again: it may be what ends their tabs. */
const MOST_HANDOVERS = 2;

function endedTabs(cause: TabServeError): TabServeError {
  const message = `${MOST_HANDOVERS + 1} tabs that ran the shared model have ended while they had this request: ${cause.message} Send it again, if it is not what ends them.`;
  return new TabServeError('worker-lost', message, { cause });
}

function inputGone(cause: TabServeError): TabServeError {
  const message = `The worker was lost, and this request's input with it: ${cause.message} Send the request again, without transfer: true.`;
  return new TabServeError('worker-lost', message, { cause });
}

function partsGone(cause: TabServeError): TabServeError {
  const message = `The worker was lost in the middle of a streamed answer: ${cause.message} Parts of it have been read, so it is not started again.`;
  return new TabServeError('worker-lost', message, { cause });
}

function endedTwo({ isExplanation }: Job, cause: TabServeError, first: TabServeError): TabServeError {
  if (cause.code === 'out-of-memory') return cause;
  const what = isExplanation ? 'explanation' : 'request and no other';
  const message = `The worker was lost twice while it ran this ${what}: ${cause.message} The first time: ${first.message}`;
  return new TabServeError('worker-lost', message, { cause });
}

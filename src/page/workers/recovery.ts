import type { Recovery } from '../requests/sender.js';
import { candidateName, type Candidate, type Skipped } from '../../contract/backends.js';
import { blameOf, TabServeError } from '../../contract/errors.js';
import type { Job, Loss } from '../requests/job.js';

/** A loss that is not healed yet. */
export interface OpenLoss extends Pick<Recovery, 'cause' | 'replayed' | 'failed'> {
  /** When the first worker was lost. */
  readonly at: number;
}

/**
 * Returns the open loss with another loss added to it: the first one is the cause, and the requests of all are counted.
 */
export function addLoss(before: OpenLoss | undefined, loss: OpenLoss): OpenLoss {
  if (!before) return loss;
  return { ...before, replayed: before.replayed + loss.replayed, failed: before.failed + loss.failed };
}

/**
 * Decides about each job of a lost worker. A job that the page can send again is replayed, alone. A job that has lost
 * two workers in which it was alone is to blame, and is rejected; so a job that lost its first worker together with
 * others is replayed twice at most. One that was alone in a worker that ran out of time, or that the model's files
 * kept from ending, is rejected at once: it would take the same time again. It also rejects jobs whose input is gone;
 * explanations that have lost two workers, whatever ran beside them; and streams of which a chunk was read, unless the
 * answer can continue after it, because another run may send other chunks.
 * @returns the jobs to replay
 */
export function triage(jobs: readonly Job[], loss: Loss): readonly Job[] {
  return jobs.filter((job) => {
    if (loss.alone && isTimeout(loss.error)) {
      job.reject(tookTooLong(loss.error));
      return false;
    }
    if (loss.alone && blameOf(loss.error.code) === 'archive') {
      job.reject(loss.error);
      return false;
    }
    const before = job.isExplanation ? job.losses[0] : loss.alone && job.losses.find(({ alone }) => alone);
    const reason = before ? endedTwo(job, loss.error, before.error) : whyNotReplayable(job, loss.error);
    if (reason) job.reject(reason);
    else job.lose(loss);
    return reason === undefined;
  });
}

/** Returns the error of a job that was lost and cannot be sent again; undefined if it can. */
export function whyNotReplayable(job: Job, cause: TabServeError): TabServeError | undefined {
  if (job.chunks?.replayable === false) return chunksGone(cause);
  return job.replayable ? undefined : inputGone(cause);
}

function inputGone(cause: TabServeError): TabServeError {
  const message = `The worker was lost, and this request's input with it: ${cause.message} Send the request again, without transfer: true.`;
  return new TabServeError('worker-lost', message, { cause });
}

function chunksGone(cause: TabServeError): TabServeError {
  const message = `The worker was lost in the middle of a streamed answer: ${cause.message} Parts of it have been read, so it is not started again.`;
  return new TabServeError('worker-lost', message, { cause });
}

/** Returns whether the watchdog has ended the worker. */
function isTimeout({ cause }: TabServeError): boolean {
  return cause instanceof TabServeError && cause.code === 'timeout';
}

function tookTooLong(cause: TabServeError): TabServeError {
  const message = `${cause.message} It ran this request and no other, so the request is not replayed. If it needs more time, raise responseTimeout.`;
  return new TabServeError('worker-lost', message, { cause });
}

function endedTwo({ isExplanation }: Job, cause: TabServeError, first: TabServeError): TabServeError {
  if (cause.code === 'out-of-memory') return cause;
  const what = isExplanation ? 'explanation' : 'request and no other';
  const message = `The worker was lost twice while it ran this ${what}: ${cause.message} The first time: ${first.message}`;
  return new TabServeError('worker-lost', message, { cause });
}

/**
 * Seconds before each attempt to open another worker: TorchServe's Fibonacci numbers. They begin again after an answer.
 */
const DELAYS = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55];

/** A backend is demoted after this many losses in a row, without an answer in between. */
const MAX_LOSSES = 2;

/** Decides when to open the next worker after a loss, and which backends are demoted. */
export class Backoff {
  readonly #maxSeconds: number;
  #demoted: readonly Skipped[] = [];
  /** Since a worker last answered: losses by backend, attempts, why they failed, and when the first loss was. */
  readonly #losses = new Map<string, number>();
  #attempts = 0;
  #reasons: readonly string[] = [];
  #since: number | undefined;

  /** @param maxSeconds after the first loss, when attempts end */
  constructor(maxSeconds: number) {
    this.#maxSeconds = maxSeconds;
  }

  /** The demoted backends, with the reasons. */
  get demoted(): readonly Skipped[] {
    return this.#demoted;
  }

  /** Why the attempts since the last answer have failed. */
  get reasons(): readonly string[] {
    return this.#reasons;
  }

  /**
   * Forgets the losses, because a worker has answered, has made progress with an answer, or has been ready for long.
   */
  reset(): void {
    this.#losses.clear();
    this.#attempts = 0;
    this.#reasons = [];
    this.#since = undefined;
  }

  /** Forgets the losses and the demoted backends. */
  restart(): void {
    this.reset();
    this.#demoted = [];
  }

  /** Counts a loss against the backend. One that computes wrongly is demoted at once. */
  countLoss({ engine, name }: Candidate, { code, message }: TabServeError): void {
    const backend = candidateName({ engine, name });
    const losses = (this.#losses.get(backend) ?? 0) + 1;
    this.#losses.set(backend, losses);
    const isWrong = code === 'backend-wrong';
    if (losses < MAX_LOSSES && !isWrong) return;
    const reason = isWrong ? message : `It was lost ${losses} times in a row: ${message}`;
    this.#demoted = [...this.#demoted, { engine, name, reason }];
    this.#losses.delete(backend);
  }

  /** Records why an attempt failed. */
  countFailure({ message }: TabServeError): void {
    this.#reasons = [...this.#reasons, message];
  }

  /** Returns when to make the next attempt; undefined if it would be too late. */
  next(now: number): number | undefined {
    this.#since ??= now;
    const at = now + DELAYS[Math.min(this.#attempts, DELAYS.length - 1)]! * 1000;
    this.#attempts += 1;
    return at - this.#since > this.#maxSeconds * 1000 ? undefined : at;
  }
}

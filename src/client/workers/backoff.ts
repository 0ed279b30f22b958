import { candidateName, type Candidate, type Skipped } from '../../contract/backends.js';
import type { TabServeError } from '../../contract/errors.js';

/** Seconds before each attempt to open another worker: TorchServe's Fibonacci numbers. They begin again after an answer. */
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

  /** @param maxSeconds from the first loss, after which no further attempt is made */
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

  /** Forgets the losses: a worker has answered, or has been ready for long. */
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

  /** Counts a loss against the backend. */
  countLoss({ engine, name }: Candidate, { message }: TabServeError): void {
    const backend = candidateName({ engine, name });
    const losses = (this.#losses.get(backend) ?? 0) + 1;
    this.#losses.set(backend, losses);
    if (losses < MAX_LOSSES) return;
    this.#demoted = [...this.#demoted, { engine, name, reason: `It was lost ${losses} times in a row: ${message}` }];
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

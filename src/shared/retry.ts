import { TabServeError } from '../contract/errors.js';
import type { Clock } from './clock.js';

/** Retries after the first attempt, or after the last one that made progress. */
const MAX_RETRIES = 4;
/** The delay before the first retry; it doubles with each further one. */
const FIRST_DELAY_MS = 500;
/** If a server asks for a longer wait (Retry-After), there is no retry. */
const MAX_RETRY_AFTER_MS = 30_000;
/** While it waits, a worker sends a heartbeat this often. */
const HEARTBEAT_MS = 1000;

/** A failure that may pass. `withRetries` makes another attempt. */
export class TransientFailure extends Error {
  /**
   * @param failure what to throw if no attempt succeeds
   * @param gotOn whether the attempt made enough progress for the count of retries to start again
   * @param retryAfter milliseconds that the server asks to wait
   */
  constructor(
    readonly failure: TabServeError,
    readonly gotOn = false,
    readonly retryAfter?: number,
  ) {
    super(failure.message, { cause: failure });
  }
}

export interface RetryOptions {
  readonly clock: Clock;
  /** Returns a number in 0..1. */
  readonly random: () => number;
  readonly signal?: AbortSignal | undefined;
  /** Called at least once a second while it waits. */
  readonly onHeartbeat?: (() => void) | undefined;
}

/**
 * Makes attempts until one succeeds: again after a `TransientFailure`, at most four times, with exponential backoff and
 * jitter. Retry n comes after a time between half and the whole of 0.5 s · 2ⁿ⁻¹, so that clients that failed at the
 * same time do not retry at the same time; or after the time that the server asks for, if that is longer.
 * @throws the last failure; the signal's reason
 */
export async function withRetries<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof TransientFailure)) throw error;
      const { failure, gotOn, retryAfter = 0 } = error;
      if (gotOn) retries = 0;
      if (retries >= MAX_RETRIES) throw afterRetries(failure);
      if (retryAfter > MAX_RETRY_AFTER_MS) throw tooLong(failure, retryAfter);
      const backoff = FIRST_DELAY_MS * 2 ** retries * (0.5 + options.random() / 2);
      await wait(Math.max(backoff, retryAfter), options);
    }
  }
}

function tooLong({ code, message, cause, stage }: TabServeError, retryAfter: number): TabServeError {
  const seconds = Math.ceil(retryAfter / 1000);
  return new TabServeError(code, `${message} Try again in ${seconds} s, as the server asks.`, { cause, stage });
}

function afterRetries({ code, message, cause, stage }: TabServeError): TabServeError {
  return new TabServeError(code, `${message} (after ${MAX_RETRIES} retries)`, { cause, stage });
}

/** @throws the signal's reason */
async function wait(milliseconds: number, { clock, signal, onHeartbeat }: RetryOptions): Promise<void> {
  const until = clock.now() + milliseconds;
  for (let left = milliseconds; left > 0; left = until - clock.now()) {
    onHeartbeat?.();
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        cancel();
        reject(signal!.reason as Error);
      };
      if (signal?.aborted) return reject(signal.reason as Error);
      const cancel = clock.schedule(
        () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        },
        Math.min(left, HEARTBEAT_MS),
      );
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}

/** Returns whether a later request may succeed: the server is overloaded, or failed. */
export function mayPass(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/**
 * Returns the milliseconds that a response asks to wait: by `Retry-After`, seconds or a date; or by `RateLimit`, if
 * nothing remains, the seconds until something does (`"api";r=0;t=55`).
 */
export function readRetryAfter({ headers }: Response, now = Date.now()): number | undefined {
  const limit = headers.get('ratelimit') ?? '';
  const text = headers.get('retry-after') ?? /;\s*r=0\b.*;\s*t=(\d+)/.exec(limit)?.[1] ?? null;
  if (text === null) return undefined;
  const milliseconds = /^\s*\d+\s*$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds);
}

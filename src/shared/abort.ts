import { messageOf, TabServeError } from '../contract/errors.js';

/** Returns the error for a call that `signal` has ended. */
export function abortError(signal: AbortSignal): TabServeError {
  const reason: unknown = signal.reason;
  if (reason instanceof TabServeError) return reason;
  const message = reason instanceof Error ? messageOf(reason) : 'The call was aborted.';
  return new TabServeError('aborted', message, { cause: reason });
}

/**
 * Returns the error for a stream that its own `signal` has ended. The message says so, because the loop that throws it
 * may be far from the signal.
 */
export function streamAbortError(signal: AbortSignal): TabServeError {
  const error = abortError(signal);
  if (error === signal.reason) return error;
  return new TabServeError('aborted', `The stream's signal ended it: ${error.message}`, { cause: error.cause });
}

/** Returns the error for a request whose own timeout, in milliseconds, has passed. */
export function timeoutError(timeout: number): TabServeError {
  return new TabServeError('timeout', `The request was not answered within its timeout of ${timeout} ms.`);
}

/** Waits for `work`, but no longer than until `signal` aborts. @throws `aborted` */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return await work;
  const listening = new AbortController();
  const abort = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(abortError(signal));
    signal.addEventListener('abort', () => reject(abortError(signal)), { signal: listening.signal });
  });
  try {
    return await Promise.race([work, abort]);
  } finally {
    listening.abort();
  }
}

import { TabServeError } from '../contract/errors.js';

/** The error of a call that `signal` has ended. */
export function abortion(signal: AbortSignal): TabServeError {
  const reason: unknown = signal.reason;
  if (reason instanceof TabServeError) return reason;
  return new TabServeError('aborted', reason instanceof Error ? reason.message : 'The call was aborted.', {
    cause: reason,
  });
}

/** Waits for `work`, but no longer than until `signal` aborts. @throws `aborted` */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return await work;
  const listening = new AbortController();
  const abort = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(abortion(signal));
    signal.addEventListener('abort', () => reject(abortion(signal)), { signal: listening.signal });
  });
  try {
    return await Promise.race([work, abort]);
  } finally {
    listening.abort();
  }
}

import { TabServeError } from '../contract/errors.js';
import { abortError } from './abort.js';
import { browserClock, type Clock } from './clock.js';

export interface Limit {
  readonly milliseconds: number;
  /** @default the browser's */
  readonly clock?: Clock | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits for something outside of the SDK, which may never answer: at most so many milliseconds, and no longer than until `signal` aborts.
 * @throws what `work` throws, at once or later; `timeout`; `aborted`
 */
export async function withinLimit<T>(
  what: string,
  work: () => T | PromiseLike<T>,
  { milliseconds, clock = browserClock, signal }: Limit,
): Promise<T> {
  if (signal?.aborted) throw abortError(signal);
  const listening = new AbortController();
  let cancel = (): void => {};
  try {
    return await new Promise<T>((resolve, reject) => {
      cancel = clock.schedule(
        () => reject(new TabServeError('timeout', `${what} did not answer within ${milliseconds} ms.`)),
        milliseconds,
      );
      signal?.addEventListener('abort', () => reject(abortError(signal)), { signal: listening.signal });
      void Promise.resolve(work()).then(resolve, reject);
    });
  } finally {
    cancel();
    listening.abort();
  }
}

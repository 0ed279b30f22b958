import { TabServeError } from '../contract/errors.js';
import { MAX_DELAY_MS } from '../contract/settings.js';
import { abortError } from './abort.js';
import { browserClock, type Clock } from './clock.js';
import { wrongValue } from './read-options.js';

export interface Limit {
  readonly milliseconds: number;
  /** @default the browser's */
  readonly clock?: Clock | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** @throws `invalid-input` for more milliseconds than a timer supports, or infinity: it would not wait at all */
export function checkTimeout(timeout: unknown): void {
  if (typeof timeout === 'number' && timeout > 0 && timeout <= MAX_DELAY_MS) return;
  throw wrongValue('timeout', `milliseconds above 0, and up to ${MAX_DELAY_MS}`, timeout);
}

/**
 * Waits for something outside of the SDK, which may never answer, for at most this many milliseconds, or until `signal`
 * aborts.
 * @throws what `work` throws, at once or later; `timeout`; `aborted`
 */
export async function withinLimit<T>(
  what: string,
  work: () => T | PromiseLike<T>,
  { milliseconds, clock = browserClock, signal }: Limit,
): Promise<T> {
  if (signal?.aborted) throw abortError(signal);
  let stopListening = (): void => {};
  let cancel = (): void => {};
  try {
    return await new Promise<T>((resolve, reject) => {
      cancel = clock.schedule(
        () => reject(new TabServeError('timeout', `${what} did not answer within ${Math.round(milliseconds)} ms.`)),
        milliseconds,
      );
      const onAbort = (): void => reject(abortError(signal!));
      signal?.addEventListener('abort', onAbort);
      stopListening = () => signal?.removeEventListener('abort', onAbort);
      void Promise.resolve(work()).then(resolve, reject);
    });
  } finally {
    cancel();
    stopListening();
  }
}

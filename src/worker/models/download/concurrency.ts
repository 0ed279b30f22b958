import { abortError } from '../../../shared/abort.js';

/**
 * Runs work when a slot is free. If the signal aborts before that, it is not run, and the promise rejects with the
 * signal's error.
 */
export type Concurrency = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** Returns a function that runs at most `most` pieces of work at once, in their order. */
export function limitConcurrency(most: number): Concurrency {
  let running = 0;
  const waiting = new Set<() => void>();
  const turn = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.delete(enter);
        reject(abortError(signal!));
      };
      const enter = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      waiting.add(enter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  return async (work, signal) => {
    if (signal?.aborted) throw abortError(signal);
    if (running >= most) await turn(signal);
    else running += 1;
    try {
      return await work();
    } finally {
      const [next] = waiting;
      if (next) {
        waiting.delete(next);
        next();
      } else running -= 1;
    }
  };
}

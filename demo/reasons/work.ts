import type { ExplainProgress } from '../../src/index.js';

/** One explanation at a time, which can be canceled. */
export interface Work {
  /** Starts an explanation, and ends the one before. @returns its result, or undefined if it was canceled */
  run<T>(
    start: (signal: AbortSignal, onProgress: (progress: ExplainProgress) => void) => Promise<T>,
  ): Promise<T | undefined>;
  cancel(): void;
  /** Is called with the progress, and with undefined when there is nothing more to do. */
  onProgress: (progress: ExplainProgress | undefined) => void;
}

export function work(): Work {
  let running: AbortController | undefined;
  const one: Work = {
    async run(start) {
      running?.abort();
      const mine = (running = new AbortController());
      one.onProgress({ done: 0, total: 1 });
      try {
        return await start(mine.signal, (progress) => mine === running && one.onProgress(progress));
      } catch (error) {
        if (mine.signal.aborted) return undefined;
        throw error;
      } finally {
        if (mine === running) {
          running = undefined;
          one.onProgress(undefined);
        }
      }
    },
    cancel: () => running?.abort(),
    onProgress: () => {},
  };
  return one;
}

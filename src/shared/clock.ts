/** The time. It is injected, so that tests control it. */
export interface Clock {
  /** Returns milliseconds of a monotonic clock. */
  now(): number;
  /** Runs `task` after this many milliseconds. Returns a function that cancels it. */
  schedule(task: () => void, milliseconds: number): () => void;
}

export const browserClock: Clock = {
  now: () => performance.now(),
  schedule(task, milliseconds) {
    const timer = setTimeout(task, milliseconds);
    return () => clearTimeout(timer);
  },
};

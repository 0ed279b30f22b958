export interface Frames {
  /** Returns the page's frames a second since the last call. */
  rate(): number;
  dispose(): void;
}

/** Counts the frames that the page draws: the load must not slow the page down. */
export function frames(): Frames {
  let count = 0;
  let since = performance.now();
  let request = requestAnimationFrame(next);
  function next(): void {
    count += 1;
    request = requestAnimationFrame(next);
  }
  return {
    rate() {
      const now = performance.now();
      const rate = (count * 1000) / (now - since);
      [count, since] = [0, now];
      return rate;
    },
    dispose: () => cancelAnimationFrame(request),
  };
}

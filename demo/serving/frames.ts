export interface Frames {
  /** Frames a second of the page since it was last asked. */
  rate(): number;
  dispose(): void;
}

/** Counts the page's own frames: what it does must not be felt. */
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

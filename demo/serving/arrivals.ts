export interface Arrivals {
  /** Calls a second, on average; 0 stops them. */
  rate: number;
}

/** Calls that are due for longer than this, because the page was hidden or busy, are dropped; in milliseconds. */
const LATE = 250;

/**
 * Calls at random times and never waits for an answer: an open loop, the load of many independent visitors (a Poisson
 * process). A browser's timers are at least 4 ms apart: all calls that fall between two of them are made together.
 */
export function arrivals(call: () => void): Arrivals {
  let rate = 0;
  let next = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const gap = (): number => (-Math.log(1 - Math.random()) * 1000) / rate;
  const wait = (): void => void (timer = setTimeout(tick, next - performance.now()));
  function tick(): void {
    const now = performance.now();
    if (now - next > LATE) next = now;
    while (next <= now) {
      call();
      next += gap();
    }
    wait();
  }
  return {
    get rate() {
      return rate;
    },
    set rate(perSecond) {
      clearTimeout(timer);
      rate = perSecond;
      if (rate === 0) return;
      next = performance.now() + gap();
      wait();
    },
  };
}

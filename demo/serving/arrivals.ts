export interface Arrivals {
  /** Calls a second, on average; 0: none. */
  rate: number;
}

/** What a page that was hidden or busy has missed for longer is not made up for, in milliseconds. */
const LATE = 250;

/**
 * Calls at random moments, whatever becomes of the calls: an open loop, as many independent visitors make it (a Poisson process).
 * A browser's timers are 4 ms apart at best: what falls between two of them is called together.
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

/**
 * The length of a window in which answers are counted, at least, and the longest time in which further workers may
 * start; in milliseconds.
 */
const [WINDOW, GROWING] = [700, 4000];

/** Windows are counted until their rate no longer grows, and at most this many. */
const MAX_WINDOWS = 8;
/** A rate that is higher by this factor is growth. */
const GROWTH = 1.1;

export interface Closed {
  ask(): Promise<unknown>;
  /** Concurrent callers: enough that a request always waits, and few enough that none is refused. */
  readonly callers: number;
  /** The largest batch, in rows. */
  readonly batchSize: number;
  /** Returns whether all workers run. */
  grown(): Promise<boolean>;
  readonly signal: AbortSignal;
}

/**
 * Measures the capacity, in answers a second: a closed loop of callers, each of which sends a request when its last one
 * is answered. It is the best of several windows: engines get faster in their first seconds, and other programs only
 * make them slower.
 * @throws what `ask` throws
 */
export async function capacity({ ask, callers, batchSize, grown, signal }: Closed): Promise<number> {
  let answers: number[] = [];
  const counted = new AbortController();
  const call = async (): Promise<void> => {
    while (!counted.signal.aborted) {
      await ask();
      signal.throwIfAborted();
      answers.push(performance.now());
    }
  };
  const enough = (): boolean => answers.length > 2 * batchSize && answers.at(-1)! - answers[0]! > WINDOW;
  const rates: number[] = [];
  const watch = async (): Promise<void> => {
    const begun = performance.now();
    while (performance.now() - begun < GROWING && !(await grown())) await pause();
    while (!isSettled(rates) && rates.length < MAX_WINDOWS) {
      answers = [];
      while (!enough()) {
        signal.throwIfAborted();
        await pause();
      }
      rates.push(rateOf(answers));
    }
    counted.abort();
  };
  try {
    await Promise.all([watch(), ...Array.from({ length: callers }, call)]);
  } finally {
    counted.abort();
  }
  return Math.max(...rates);
}

/** Returns whether the last two rates are no higher than the best one before them. */
export function isSettled(rates: readonly number[]): boolean {
  const last = rates.slice(-2);
  const before = rates.slice(0, -2);
  return before.length > 0 && Math.max(...last) <= Math.max(...before) * GROWTH;
}

/** Returns the answers a second. The first batch began before the clock did, so it does not count. */
export function rateOf(answers: readonly number[]): number {
  const [first, last] = [answers[0]!, answers.at(-1)!];
  return (answers.filter((at) => at > first + 1).length * 1000) / (last - first);
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}

/** Milliseconds for which answers are counted, at least. */
const COUNTED = 1500;

/** The shortest warm-up, and the longest time in which further workers may start, in milliseconds. */
const [WARM, GROWING] = [1000, 4000];

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

/** Measures the capacity, in answers a second: a closed loop of callers, each of which sends a request when its last one is answered. @throws what `ask` throws */
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
  const enough = (): boolean => answers.length > 2 * batchSize && answers.at(-1)! - answers[0]! > COUNTED;
  const watch = async (): Promise<void> => {
    const begun = performance.now();
    const since = (): number => performance.now() - begun;
    while (since() < WARM || (since() < GROWING && !(await grown()))) await pause();
    answers = [];
    while (!enough()) {
      signal.throwIfAborted();
      await pause();
    }
    counted.abort();
  };
  try {
    await Promise.all([watch(), ...Array.from({ length: callers }, call)]);
  } finally {
    counted.abort();
  }
  // The first batch began before the clock did.
  const [first, last] = [answers[0]!, answers.at(-1)!];
  return (answers.filter((at) => at > first + 1).length * 1000) / (last - first);
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 100));
}

/** Milliseconds for which answers are counted, at least. */
const COUNTED = 1500;

/** Milliseconds for which it warms up, at least, and in which further workers may start, at most. */
const [WARM, GROWING] = [1000, 4000];

export interface Closed {
  ask(): Promise<unknown>;
  /** Callers at once: so many that there is always more to do, and so few that none is refused. */
  readonly callers: number;
  /** Rows of a batch, at most. */
  readonly batchSize: number;
  /** Whether all workers are at work. */
  grown(): Promise<boolean>;
  readonly signal: AbortSignal;
}

/** Answers a second when there is always more to do: a closed loop of callers, each of which asks again when it is answered. @throws what `ask` throws */
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

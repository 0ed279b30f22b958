/** Runs work when there is room for it. */
export type Concurrency = <T>(work: () => Promise<T>) => Promise<T>;

/** Returns a function that runs at most `most` pieces of work at once, in their order. */
export function limitConcurrency(most: number): Concurrency {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

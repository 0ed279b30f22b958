/** Runs one job at a time. Of the inputs that arrive meanwhile only the last one runs next: there is no queue. */
export function latestOnly<T>(job: (input: T) => Promise<void>): (input: T) => void {
  let next: { readonly input: T } | undefined;
  let running = false;
  const drain = async (): Promise<void> => {
    running = true;
    try {
      while (next) {
        const { input } = next;
        next = undefined;
        await job(input);
      }
    } finally {
      running = false;
    }
  };
  return (input) => {
    next = { input };
    if (!running) void drain();
  };
}

/**
 * Web Locks as the browser has them, as far as `request` with `signal` and `ifAvailable` goes: exclusive, first come,
 * first served.
 */
export class FakeLocks {
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly held = new Set<string>();
  /** Requests that wait. */
  waiting = 0;

  request = (async (name: string, ...rest: unknown[]): Promise<unknown> => {
    const work = rest.at(-1) as (lock: object | null) => unknown;
    const { signal, ifAvailable } = (rest.length > 1 ? rest[0] : {}) as LockOptions;
    const before = this.#queues.get(name) ?? Promise.resolve();
    if (ifAvailable && this.held.has(name)) return await work(null);
    let start!: () => void;
    const turn = new Promise<void>((resolve) => (start = resolve));
    const done = before.then(async () => {
      if (signal?.aborted) return undefined;
      this.held.add(name);
      start();
      try {
        return await work({ name });
      } finally {
        this.held.delete(name);
      }
    });
    this.#queues.set(
      name,
      done.catch(() => {}),
    );
    this.waiting += 1;
    await new Promise<void>((resolve, reject) => {
      void turn.then(resolve);
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    }).finally(() => (this.waiting -= 1));
    return await done;
  }) as LockManager['request'];
}

import type { Clock } from '../../../src/shared/clock.ts';

/** A clock that stands still until `advance` is called. */
export class FakeClock implements Clock {
  #now = 0;
  readonly #tasks = new Set<{ readonly at: number; readonly task: () => void }>();

  now(): number {
    return this.#now;
  }

  schedule(task: () => void, milliseconds: number): () => void {
    const entry = { at: this.#now + milliseconds, task };
    this.#tasks.add(entry);
    return () => void this.#tasks.delete(entry);
  }

  /** Timers that were neither run nor canceled. */
  get pending(): number {
    return this.#tasks.size;
  }

  /** Lets time pass, runs what is due in its order, and then lets promises settle. */
  async advance(milliseconds: number): Promise<void> {
    const until = this.#now + milliseconds;
    for (;;) {
      const [next] = [...this.#tasks].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
      if (!next) break;
      this.#tasks.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.task();
      await settle();
    }
    this.#now = until;
    await settle();
  }
}

/** Lets every promise settle that needs no timer. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

import type { Clock } from './clock.js';

/** A connection on which nothing arrives for so long counts as broken. */
const STALL_MS = 30_000;

/** Aborts an attempt if nothing arrives for long. */
export class StallTimer {
  readonly #aborter = new AbortController();
  #cancel: () => void = () => {};

  constructor(private readonly clock: Clock) {
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  /** Something has arrived. */
  restart(): void {
    this.stop();
    this.#cancel = this.clock.schedule(
      () => this.#aborter.abort(new Error(`nothing has arrived for ${STALL_MS / 1000} s`)),
      STALL_MS,
    );
  }

  stop(): void {
    this.#cancel();
  }
}

/** A call that the worker has not answered yet. */
export interface WatchedCall {
  /** By which the worker names the call in its heartbeats; undefined for a call that has none of its own. */
  readonly id: string | undefined;
  /** When the worker last showed that this call is getting on, by `performance.now()`. */
  lastHeartbeat: number;
}

/** A timer that fires so late means that the page was asleep or frozen, and the worker with it. */
const ASLEEP_MS = 2000;

/**
 * Ends a worker that shows no heartbeat while it has something to do. It runs on the page, where nothing that blocks the worker blocks it.
 * An idle worker owes no heartbeat.
 */
export class Watchdog {
  /** In the order of the calls. */
  readonly #calls = new Set<WatchedCall>();
  readonly #onSilence: (seconds: number) => void;
  #timeout: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The timer was late, and there was no heartbeat since. */
  #wasLate = false;

  /**
   * @param timeout seconds without a heartbeat that are allowed
   * @param onSilence is called when more have passed
   */
  constructor(timeout: number, onSilence: (seconds: number) => void) {
    this.#timeout = timeout;
    this.#onSilence = onSilence;
  }

  set timeout(seconds: number) {
    this.#timeout = seconds;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#calls.size > 0) this.#arm(performance.now() + seconds * 1000);
  }

  /** Watches a call until `forget`. */
  watch(id: string | undefined): WatchedCall {
    const now = performance.now();
    const call: WatchedCall = { id, lastHeartbeat: now };
    this.#calls.add(call);
    if (this.#timer === undefined) this.#arm(now + this.#timeout * 1000);
    return call;
  }

  /** A call was answered. */
  forget(call: WatchedCall): void {
    this.#beatSince(call);
    this.#calls.delete(call);
  }

  /** The worker is getting on with the call of this id, or with whatever it does first. */
  beat(id: string | undefined): void {
    for (const call of this.#calls) if (id === undefined || call.id === id) return this.#beatSince(call);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#calls.clear();
  }

  /** A heartbeat of one call is one of those after it too, which wait for it. It says nothing of a call before it, which may hang. */
  #beatSince(first: WatchedCall): void {
    this.#wasLate = false;
    const now = performance.now();
    let reached = false;
    for (const call of this.#calls) {
      reached ||= call === first;
      if (reached) call.lastHeartbeat = now;
    }
  }

  #arm(due: number): void {
    this.#timer = setTimeout(() => this.#check(due), due - performance.now());
  }

  #check(due: number): void {
    this.#timer = undefined;
    if (this.#calls.size === 0) return;
    const now = performance.now();
    // The worker gets its whole time again, but once only: in a background tab every timer is late.
    if (now - due > ASLEEP_MS && !this.#wasLate) {
      this.#wasLate = true;
      for (const call of this.#calls) call.lastHeartbeat = now;
    }
    const next = Math.min(...[...this.#calls].map(({ lastHeartbeat }) => lastHeartbeat)) + this.#timeout * 1000;
    if (next > now) this.#arm(next);
    else this.#onSilence(this.#timeout);
  }
}

import { browserClock, type Clock } from '../../shared/clock.js';

/** A call that the worker has not answered yet. */
export interface WatchedCall {
  /** The call's id in the worker's heartbeats; undefined for a call without heartbeats of its own. */
  readonly id: string | undefined;
  /** The time of the last heartbeat for this call, by the clock. */
  lastHeartbeat: number;
  /** Whether the worker waits for the page, so that its silence means nothing. */
  isPaused: boolean;
}

/** A timer that is this late means that the page was asleep or frozen, and the worker with it. */
const ASLEEP_MS = 2000;

/**
 * Ends a worker that shows no heartbeat while it has something to do. It runs on the page, which a blocked worker does
 * not block. An idle worker sends no heartbeats.
 */
export class Watchdog {
  /** The calls, oldest first. */
  readonly #calls = new Set<WatchedCall>();
  readonly #onSilence: (seconds: number) => void;
  readonly #clock: Clock;
  #timeout: number;
  /** Undefined while no timer is set. */
  #cancelTimer: (() => void) | undefined;
  /** Whether the timer was late, and there was no heartbeat since. */
  #wasLate = false;

  /**
   * @param timeout seconds without a heartbeat that are allowed
   * @param onSilence is called when more have passed
   */
  constructor(timeout: number, onSilence: (seconds: number) => void, clock: Clock = browserClock) {
    this.#timeout = timeout;
    this.#onSilence = onSilence;
    this.#clock = clock;
  }

  set timeout(seconds: number) {
    this.#timeout = seconds;
    this.#disarm();
    if (this.#calls.size > 0) this.#arm(this.#clock.now() + seconds * 1000);
  }

  /** Watches a call until `forget`. */
  watch(id: string | undefined): WatchedCall {
    const now = this.#clock.now();
    const call: WatchedCall = { id, lastHeartbeat: now, isPaused: false };
    this.#calls.add(call);
    if (!this.#cancelTimer) this.#arm(now + this.#timeout * 1000);
    return call;
  }

  /**
   * Records whether the worker waits for the page with the call of this id. When it no longer waits, its time starts
   * again.
   */
  setPaused(id: string, isPaused: boolean): void {
    for (const call of this.#calls) {
      if (call.id !== id || call.isPaused === isPaused) continue;
      call.isPaused = isPaused;
      call.lastHeartbeat = this.#clock.now();
      if (!this.#cancelTimer) this.#armForDeadline();
    }
  }

  /** Stops watching a call that was answered. */
  forget(call: WatchedCall): void {
    this.#beatSince(call);
    this.#calls.delete(call);
  }

  /** Records a heartbeat for the call of this id; without an id, for the oldest call. */
  beat(id: string | undefined): void {
    for (const call of this.#calls) if (id === undefined || call.id === id) return this.#beatSince(call);
  }

  stop(): void {
    this.#disarm();
    this.#calls.clear();
  }

  /** Records a heartbeat for a call, and for the later calls, which wait for it. An earlier call may still hang. */
  #beatSince(first: WatchedCall): void {
    this.#wasLate = false;
    const now = this.#clock.now();
    let reached = false;
    for (const call of this.#calls) {
      reached ||= call === first;
      if (reached) call.lastHeartbeat = now;
    }
  }

  #arm(due: number): void {
    this.#cancelTimer = this.#clock.schedule(() => this.#check(due), due - this.#clock.now());
  }

  /** Sets the timer for the next moment at which a call may be overdue, if there is one. */
  #armForDeadline(): void {
    if (this.#deadline < Infinity) this.#arm(this.#deadline);
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #check(due: number): void {
    this.#cancelTimer = undefined;
    if (this.#calls.size === 0) return;
    const now = this.#clock.now();
    // The worker's time starts again, but only once: in a background tab every timer is late.
    if (now - due > ASLEEP_MS && !this.#wasLate) {
      this.#wasLate = true;
      for (const call of this.#calls) call.lastHeartbeat = now;
    }
    if (this.#deadline > now) this.#armForDeadline();
    // The page was busy, so heartbeats may wait after this timer. The next task comes after them.
    else this.#cancelTimer = this.#clock.schedule(() => this.#decide(), 0);
  }

  #decide(): void {
    this.#cancelTimer = undefined;
    if (this.#calls.size === 0) return;
    if (this.#deadline > this.#clock.now()) this.#armForDeadline();
    else this.#onSilence(this.#timeout);
  }

  /** When the call that has been silent for longest has used up its time; Infinity if no call is watched. */
  get #deadline(): number {
    const watched = [...this.#calls].filter(({ isPaused }) => !isPaused);
    return Math.min(...watched.map(({ lastHeartbeat }) => lastHeartbeat)) + this.#timeout * 1000;
  }
}

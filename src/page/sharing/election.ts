import { browserClock, type Clock } from '../../shared/clock.js';

/** Events of an election. */
export interface ElectionEvents {
  /** Makes this client the host tab's. */
  elected(): void;
  /** Replaces this host tab: another tab has taken the lock, because this one did not answer. */
  deposed(): void;
}

/**
 * Elects the host tab of a share: the tab whose client has the share's lock. The others wait for the lock in a queue,
 * so that the next one is elected as soon as the browser releases it, however the host tab ends.
 */
export class Election {
  readonly #locks: ShareEnvironment['locks'];
  readonly #name: string;
  readonly #on: ElectionEvents;
  /** Ends the candidacy or the term of office; undefined if this client neither waits for the lock nor holds it. */
  #withdraw: (() => void) | undefined;

  constructor(locks: ShareEnvironment['locks'], name: string, on: ElectionEvents) {
    this.#locks = locks;
    this.#name = name;
    this.#on = on;
  }

  /** Waits for the lock in the queue, unless it already waits for it or has it. */
  stand(): void {
    if (!this.#withdraw) this.#request((signal) => ({ signal }));
  }

  /** Takes the lock from a holder that does not answer. */
  seize(): void {
    this.withdraw();
    this.#request(() => ({ steal: true }));
  }

  /** Gives up the lock, or the position in the queue. */
  withdraw(): void {
    this.#withdraw?.();
    this.#withdraw = undefined;
  }

  #request(options: (signal: AbortSignal) => LockOptions): void {
    const term = new AbortController();
    this.#withdraw = () => term.abort();
    const held = (): Promise<void> | undefined => {
      if (term.signal.aborted) return undefined;
      this.#on.elected();
      return aborted(term.signal);
    };
    this.#locks.request(this.#name, options(term.signal), held).catch(() => {
      if (term.signal.aborted) return;
      this.#withdraw = undefined;
      this.#on.deposed();
    });
  }
}

/** What sharing needs of the browser. It is injected, so that tests control it. */
export interface ShareEnvironment {
  readonly locks: Pick<LockManager, 'request'>;
  /**
   * Opens a BroadcastChannel: what is posted reaches every other tab of the origin that has opened one of the same
   * name.
   */
  readonly channel: (name: string) => BroadcastChannel;
  readonly clock: Clock;
  /** Tells by `pagehide` and `pageshow` that the page goes into the back/forward cache, and comes back. */
  readonly page: Pick<EventTarget, 'addEventListener'>;
  /** Returns an id that no other tab has. */
  readonly id: () => string;
}

/** Returns what this page has, or why it cannot share. */
export function browserEnvironment(): ShareEnvironment | string {
  const { locks } = (globalThis.navigator ?? {}) as Partial<Navigator>;
  if (globalThis.isSecureContext === false)
    return 'this page is not a secure context. Serve it over HTTPS, or from localhost.';
  if (!locks) return 'there are no Web Locks here.';
  if (typeof BroadcastChannel === 'undefined') return 'there is no BroadcastChannel here.';
  return {
    locks,
    channel: (name) => new BroadcastChannel(name),
    clock: browserClock,
    page: globalThis,
    id: () => crypto.randomUUID(),
  };
}

/**
 * Holds a lock until `signal` aborts or the page ends. Resolves when it is held.
 * @throws what the browser throws if this page may have no locks
 */
export function holdLock(locks: ShareEnvironment['locks'], name: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const held = (): Promise<void> => {
      resolve();
      return aborted(signal);
    };
    locks.request(name, held).catch(reject);
  });
}

/** Resolves when a signal aborts; at once, if it has. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

import { browserClock, type Clock } from '../../shared/clock.js';

/** What sharing needs of the browser. It is injected, so that tests control it. */
export interface ShareEnvironment {
  readonly locks: Pick<LockManager, 'request'>;
  /** Opens a BroadcastChannel: what is posted reaches every other tab of the origin that has opened one of the same name. */
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

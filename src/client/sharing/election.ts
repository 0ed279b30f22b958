import { aborted, type ShareEnvironment } from './environment.js';

/** Events of an election. */
export interface ElectionEvents {
  /** This client is the host from now on. */
  elected(): void;
  /** Another tab has taken the lock, because this one did not answer. */
  deposed(): void;
}

/**
 * Elects the host of a share: the client that holds the share's lock. The others wait for it in a queue, so that the next one is elected as soon as the
 * browser releases it, however its holder's tab ends.
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

  /** Waits for the lock in the queue, unless it does so or holds it already. */
  stand(): void {
    if (!this.#withdraw) this.#request((signal) => ({ signal }));
  }

  /** Takes the lock from a holder that does not answer. */
  seize(): void {
    this.withdraw();
    this.#request(() => ({ steal: true }));
  }

  /** Gives up the lock, or the place in the queue. */
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

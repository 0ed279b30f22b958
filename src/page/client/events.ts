import { wrongValue } from '../../shared/read-options.js';

/**
 * Listeners by event. A listener that throws is the app's own error: it is reported as an uncaught error, and the other
 * listeners are still called.
 */
export class Emitter<Events> {
  readonly #listeners = new Map<keyof Events, Set<(event: never) => void>>();
  readonly #names: readonly (keyof Events)[];

  constructor(names: readonly (keyof Events)[]) {
    this.#names = names;
  }

  /** Adds a listener. Returns a function that removes it. @throws `invalid-input` for an unknown event */
  on<E extends keyof Events>(event: E, listener: (event: Events[E]) => void): () => void {
    if (!this.#names.includes(event)) throw wrongValue('event', `one of ${this.#names.join(', ')}`, event);
    if (typeof listener !== 'function') throw wrongValue('listener', 'a function', listener);
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  emit<E extends keyof Events>(event: E, detail: Events[E]): void {
    const listeners = this.#listeners.get(event);
    // A listener that is added meanwhile gets the next event, and one that is removed gets none.
    for (const listener of new Set(listeners))
      if (listeners!.has(listener)) notify(listener as (event: Events[E]) => void, detail);
  }
}

/** Calls a listener of the app's. What it throws is reported as an uncaught error. */
export function notify<T>(listener: (detail: T) => void, detail: T): void {
  try {
    listener(detail);
  } catch (error) {
    // Node has no reportError.
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Listeners by event. One that throws is the app's own error: it is reported, and stops neither the others nor us. */
export class Emitter<Events> {
  readonly #listeners = new Map<keyof Events, Set<(event: never) => void>>();

  /** Listens; calling the answer stops it. */
  on<E extends keyof Events>(event: E, listener: (event: Events[E]) => void): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  emit<E extends keyof Events>(event: E, detail: Events[E]): void {
    for (const listener of this.#listeners.get(event) ?? []) {
      try {
        (listener as (event: Events[E]) => void)(detail);
      } catch (error) {
        reportError(error);
      }
    }
  }
}

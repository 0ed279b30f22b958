/** CPU cores that all clients of this page share. */
export class CoreBudget {
  readonly #cores: number;
  #reserved = 0;

  constructor(cores: number) {
    this.#cores = cores;
  }

  /**
   * Reserves a core for each of a worker's threads.
   * @param must whether to over-commit: for a client's only worker, and for one that replaces another
   * @returns a function that releases them; undefined if there are too few
   */
  reserve(threads: number, { must }: { readonly must: boolean }): (() => void) | undefined {
    if (!must && this.#reserved + threads > this.#cores) return undefined;
    this.#reserved += threads;
    let released = false;
    return () => {
      if (!released) this.#reserved -= threads;
      released = true;
    };
  }
}

/** The budget of this page. */
export const pageCores = new CoreBudget(globalThis.navigator?.hardwareConcurrency ?? 1);

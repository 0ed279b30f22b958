/**
 * The files in use whose versions are known only by the visits that have seen them. Files fit together if there was a
 * visit in which the server had all of them.
 */
export class VersionsInUse {
  /** When the visit began that has downloaded the newest file. */
  #since = -Infinity;
  /** When the last visit began in which the server had every file. */
  #until = Infinity;

  /**
   * Adds a version of a file. Returns false if it may not fit the others, and is not to be used.
   * @param since when the visit began that has downloaded it
   * @param until when the last visit began in which the server had it; infinite if that is this one
   */
  add(since: number, until: number): boolean {
    const [newest, last] = [Math.max(this.#since, since), Math.min(this.#until, until)];
    if (newest > last) return false;
    [this.#since, this.#until] = [newest, last];
    return true;
  }
}

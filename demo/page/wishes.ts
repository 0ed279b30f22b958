/** What the visitor's browser says of their wishes. */

/** Returns whether little is to be downloaded. */
export function savesData(): boolean {
  return (navigator as { connection?: { saveData?: boolean } }).connection?.saveData === true;
}

/** Returns whether nothing is to move by itself. */
export function wantsStill(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

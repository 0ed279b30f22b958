const started = performance.now();

/**
 * Tells what is measured next, and how many seconds have passed. It goes to the standard error: the table comes at the
 * end.
 * @param {string} what
 */
export function tell(what) {
  console.error(`${String(Math.round((performance.now() - started) / 1000)).padStart(5)} s  ${what}`);
}

/** What to show in DevTools. `performance.measure` costs more than what calls it, so it runs in a task of its own. */
const spans: { readonly name: string; readonly start: number; readonly end: number }[] = [];

/**
 * Showing a span takes some hundredths of a millisecond. Quick spans take hardly longer themselves, so only this many
 * per second are shown.
 */
const QUICK_MS = 1;
const MAX_QUICK = 60;

/** The quick spans of this second, which began at `since`. */
let quick = { since: -Infinity, count: 0 };

/** Shows work that has ended in DevTools, as `tabserve NAME`. @param start by `performance.now()`, as is `end` */
export function addSpan(name: string, start: number, end = performance.now()): void {
  if (end - start < QUICK_MS && isCrowded(end)) return;
  if (spans.push({ name: `tabserve ${name}`, start, end }) === 1) setTimeout(show);
}

/** Shows in DevTools how long work takes. */
export async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await work();
  } finally {
    addSpan(name, start);
  }
}

function isCrowded(now: number): boolean {
  // Clocks may differ: of tests, those that are injected.
  if (Math.abs(now - quick.since) > 1000) quick = { since: now, count: 0 };
  return ++quick.count > MAX_QUICK;
}

function show(): void {
  for (const { name, start, end } of spans.splice(0)) {
    performance.measure(name, { start, end });
    // DevTools have shown the measure. The browser would keep it for ever.
    performance.clearMeasures(name);
  }
}

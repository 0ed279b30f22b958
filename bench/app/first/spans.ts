/** What a page or a worker has measured of itself: its requests, and the SDK's own steps. */

export interface Span {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  /** Bytes that came over the network; undefined for a step. */
  readonly bytes?: number;
}

const steps: Span[] = [];
// The SDK clears its measures as soon as they were made.
new PerformanceObserver((list) => steps.push(...list.getEntries().map((entry) => spanOf(entry)))).observe({
  type: 'measure',
});

/** Returns the span from a call, which began at `started` of `performance.now()`, until now, and what the page measured. */
export function spansSince(started: number): { readonly took: number; readonly spans: readonly Span[] } {
  const took = performance.now() - started;
  const from = performance.timeOrigin + started;
  return { took, spans: [{ name: 'first answer', start: from, end: from + took }, ...spans()] };
}

/** Returns what was measured so far. */
export function spans(): readonly Span[] {
  const requests = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
  return [...requests.map((entry) => spanOf(entry, entry.transferSize)), ...steps];
}

function spanOf({ name, startTime, duration }: PerformanceEntry, bytes?: number): Span {
  const start = performance.timeOrigin + startTime;
  return { name, start, end: start + duration, ...(bytes !== undefined && { bytes }) };
}

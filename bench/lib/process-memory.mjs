import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Returns how many bytes the peak of a browser's resident memory rises while `work` runs, above what each process has
 * before: of its renderers, and of all others (Blobs and the disk's caches are there). Linux counts the peak of each
 * process exactly (`VmHWM`); sums of such peaks are an upper bound.
 * @param {import('@playwright/test').CDPSession} devtools of the browser
 * @param {() => Promise<unknown>} work
 */
export async function peakRise(devtools, work) {
  const rise = await watchPeak(devtools);
  await work();
  return await rise();
}

/** How often the peaks are read: Chromium resets them when it measures its own memory. */
const WATCH_MS = 500;

/**
 * Begins to watch the peak. Returns what tells how many bytes it has risen so far; `tab`: that of the renderer with the
 * most, because Chromium starts and ends others, for pages to come.
 */
export async function watchPeak(devtools) {
  const before = await residentMemory(devtools);
  for (const { id } of before.values()) writeFileSync(`/proc/${id}/clear_refs`, '5');
  const found = new Map();
  const read = async () => {
    for (const [id, one] of await residentMemory(devtools))
      found.set(id, { ...one, peak: Math.max(one.peak, found.get(id)?.peak ?? 0) });
  };
  const timer = setInterval(() => void read().catch(() => clearInterval(timer)), WATCH_MS);
  return async () => {
    await read();
    const rise = { tab: 0, renderers: 0, others: 0 };
    for (const { id, type, peak } of found.values()) {
      const own = Math.max(0, peak - (before.get(id)?.now ?? 0));
      rise[type === 'renderer' ? 'renderers' : 'others'] += own;
      if (type === 'renderer') rise.tab = Math.max(rise.tab, own);
    }
    return rise;
  };
}

/** Returns the resident memory of each process of a browser, by its number, and its peak, in bytes. */
export async function residentMemory(devtools) {
  const { processInfo } = await devtools.send('SystemInfo.getProcessInfo');
  return new Map(
    processInfo.map(({ id, type }) => {
      const status = readFileSync(`/proc/${id}/status`, 'utf8');
      const bytes = (key) => 1024 * Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
      return [id, { id, type, now: bytes('VmRSS'), peak: bytes('VmHWM') }];
    }),
  );
}

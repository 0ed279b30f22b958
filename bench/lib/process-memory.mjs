import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Returns how many bytes the peak of a browser's resident memory rises while `work` runs, above what each process has
 * before: of its renderers, and of all others (Blobs and the disk's caches are there). Linux counts the peak of each
 * process exactly (`VmHWM`); sums of such peaks are an upper bound.
 * @param {import('@playwright/test').CDPSession} devtools of the browser
 * @param {() => Promise<unknown>} work
 */
export async function peakRise(devtools, work) {
  const before = await residentMemory(devtools);
  for (const { id } of before.values()) writeFileSync(`/proc/${id}/clear_refs`, '5');
  await work();
  const rise = { renderers: 0, others: 0 };
  for (const { id, type, peak } of (await residentMemory(devtools)).values())
    rise[type === 'renderer' ? 'renderers' : 'others'] += Math.max(0, peak - (before.get(id)?.now ?? 0));
  return rise;
}

async function residentMemory(devtools) {
  const { processInfo } = await devtools.send('SystemInfo.getProcessInfo');
  return new Map(
    processInfo.map(({ id, type }) => {
      const status = readFileSync(`/proc/${id}/status`, 'utf8');
      const bytes = (key) => 1024 * Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
      return [id, { id, type, now: bytes('VmRSS'), peak: bytes('VmHWM') }];
    }),
  );
}

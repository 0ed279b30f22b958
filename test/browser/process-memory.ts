import { existsSync, readFileSync } from 'node:fs';
import type { Browser } from '@playwright/test';

/** The fields of `/proc/PID/status`. */
const FIELDS = { now: 'VmRSS', peak: 'VmHWM' } as const;

/**
 * Returns the memory of all processes of the browser in bytes: what is resident now, or the most that each has had.
 * Zero where there is no `/proc`, and in another browser than Chromium, whose processes Playwright does not list.
 */
export async function processMemory(browser: Browser, when: keyof typeof FIELDS): Promise<number> {
  if (browser.browserType().name() !== 'chromium') return 0;
  const devtools = await browser.newBrowserCDPSession();
  const { processInfo } = await devtools.send('SystemInfo.getProcessInfo');
  await devtools.detach();
  const kilobytes = processInfo.map(({ id }) => {
    const path = `/proc/${id}/status`;
    if (!existsSync(path)) return 0;
    return Number(new RegExp(`${FIELDS[when]}:\\s+(\\d+)`).exec(readFileSync(path, 'utf8'))?.[1] ?? 0);
  });
  return 1024 * kilobytes.reduce((sum, size) => sum + size, 0);
}

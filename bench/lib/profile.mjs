import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Opens a browser with a fresh profile on the disk, as a visitor has one; a private window keeps caches in memory. */
export async function inProfile(chromium, options, work) {
  const profile = mkdtempSync(join(tmpdir(), 'tabserve-bench-'));
  const context = await chromium.launchPersistentContext(profile, options);
  try {
    return await work(context);
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Runs work with a new folder in `parent`, which is made if it is missing. It is on the same disk, so that complete
 * files can be moved to their final path. The folder is removed afterwards. If the work fails, or a signal ends the
 * process, nothing is left of it, nor of a parent that was made.
 */
export async function withTemporaryFolder(parent: string, work: (folder: string) => Promise<void>): Promise<void> {
  let folder: string | undefined;
  let made: string | undefined;
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const interrupt = (signal: NodeJS.Signals): void => {
    // A file that is just being copied may appear in a folder that is being emptied.
    const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 10 };
    for (const path of [folder, made]) if (path !== undefined) rmSync(path, options);
    for (const one of signals) process.off(one, interrupt);
    process.kill(process.pid, signal);
  };
  for (const one of signals) process.on(one, interrupt);
  try {
    made = await mkdir(parent, { recursive: true });
    folder = mkdtempSync(join(parent, '.tabserve-'));
    await work(folder);
  } catch (error) {
    if (made !== undefined) await rm(made, { recursive: true, force: true });
    throw error;
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    for (const one of signals) process.off(one, interrupt);
  }
}

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Returns a folder that is filled once for all worker processes of a run: by the first that asks, and the others wait.
 * It is in the run's own folder for temporary files.
 */
export async function once(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(tmpdir(), 'shared', name);
  const done = `${folder}.done`;
  for (; !existsSync(done); await sleep(100)) {
    if (!isMade(folder)) continue;
    try {
      await fill(folder);
      writeFileSync(done, '');
    } catch (error) {
      // Another may try it again.
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }
  return folder;
}

/** Makes a folder; false if it was there before. */
function isMade(folder: string): boolean {
  mkdirSync(join(folder, '..'), { recursive: true });
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The folder of a run, whose process is `pid`. `remove-shared.ts` removes it at the end. */
export const folderOf = (pid: number): string => join(tmpdir(), `tabserve-run-${pid}`);

/**
 * Returns a folder that is filled once for all worker processes of a run: by the first that asks, and the others wait.
 */
export async function once(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(folderOf(process.ppid), name);
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

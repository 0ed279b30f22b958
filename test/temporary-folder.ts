import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Gives a run a folder of its own for temporary files, which goes with it: tests, the commands and browsers that they
 * start make thousands.
 */
export default function useTemporaryFolder(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'tabserve-tests-'));
  // Worker processes inherit it. Windows reads the second.
  process.env['TMPDIR'] = process.env['TEMP'] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

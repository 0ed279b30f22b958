import { rmSync } from 'node:fs';
import { folderOf } from './once.ts';

/** Removes what the worker processes of this run have shared. */
export default function removeShared(): void {
  rmSync(folderOf(process.pid), { recursive: true, force: true });
}

import type { FileProgress, Progress } from '../contract/archive.js';
import type { WorkerEvent } from '../contract/wire.js';

/**
 * Adds the progress of all files to the progress of each.
 * Several workers may download the same file, one after the other: it counts once, and the sum never falls.
 */
export function sumProgress(
  report: (progress: Progress) => void,
): (event: Extract<WorkerEvent, { type: 'progress' }>) => void {
  const files = new Map<string, FileProgress>();
  let allKnown = false;
  return ({ progress, planned }) => {
    const { file, loaded, total } = progress;
    const before = files.get(file);
    files.set(file, { file, loaded: Math.max(loaded, before?.loaded ?? 0), total: total ?? before?.total });
    allKnown ||= planned;
    report({ file, loaded, total, overall: sum([...files.values()], allKnown) });
  };
}

function sum(files: readonly FileProgress[], allKnown: boolean): Progress['overall'] {
  let loaded = 0;
  let total: number | undefined = allKnown ? 0 : undefined;
  for (const file of files) {
    loaded += file.loaded;
    // A size that was known beforehand may prove too small.
    if (total !== undefined) total = file.total === undefined ? undefined : total + Math.max(file.total, file.loaded);
  }
  return { loaded, total };
}

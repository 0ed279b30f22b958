import type { FileProgress } from '../../contract/archive.js';
import { TabServeError } from '../../contract/errors.js';
import type { FetchOptions } from '../download/fetch-file.js';
import type { EarlyReads, Source } from './source.js';

type Begin = NonNullable<Source['begin']>;

/**
 * Returns early reads from a folder on a server. Until they are kept, no other download joins theirs, and their progress is not told.
 * @param options those that the folder is read with
 * @param beginWith returns what begins a download with these options over the folder's own
 */
export function earlyReads(
  { downloads, signal, onProgress }: Pick<FetchOptions, 'downloads' | 'signal' | 'onProgress'>,
  beginWith: (over: Pick<FetchOptions, 'downloads' | 'found' | 'signal' | 'onProgress'>) => Begin,
): EarlyReads {
  const begun = new Map<string, Promise<Blob | undefined>>();
  /** Of each file, the first report, which has its size, and the last. */
  const untold = new Map<string, readonly FileProgress[]>();
  const dropped = new AbortController();
  let isKept = false;
  const beginEarly = beginWith({
    downloads: begun,
    found: new Set(),
    signal: signal ? AbortSignal.any([signal, dropped.signal]) : dropped.signal,
    onProgress: (progress) => {
      if (isKept) onProgress?.(progress);
      else untold.set(progress.file, [...(untold.get(progress.file)?.slice(0, 1) ?? []), progress]);
    },
  });
  const beginKept = beginWith({});
  return {
    begin: (path, expected, maxBytes) => (isKept ? beginKept : beginEarly)(path, expected, maxBytes),
    keep() {
      isKept = true;
      for (const [url, download] of begun) if (!downloads?.has(url)) downloads?.set(url, download);
      for (const progress of [...untold.values()].flat()) onProgress?.(progress);
    },
    drop: () =>
      dropped.abort(
        new TabServeError(
          'aborted',
          'The file is not needed: the archive has changed since the last visit, or cannot be read.',
        ),
      ),
  };
}

import { fetchFile, type FetchOptions } from '../download/fetch-file.js';
import type { FileProgress, HubListing, Integrity } from '../../../contract/archive.js';
import { MAX_TEXT_BYTES } from '../../../contract/limits.js';
import { atCommit } from '../../../shared/hub.js';
import { locateFile, type ModelUrl } from '../../../shared/model-url.js';
import { mergeIntegrity } from '../integrity.js';
import { TabServeError } from '../../../contract/errors.js';
import { missingFrom, type SpeculativeReads, type Source } from './source.js';

const TEXT = /\.(json|ya?ml|txt)$/i;

/**
 * Returns the files of a folder on a server, or a file and the others in its folder. With `options.downloads`, files
 * can begin to be downloaded before they are read.
 * @param location its query is sent with each file
 * @param root where the folder lies in the whole archive, for a workflow's node: see `Archive.root`
 * @param listing of a repository of the Hub: no other file is asked for, and each comes from the listed commit
 */
export function folderSource(location: ModelUrl, options: FetchOptions, root = '', listing?: HubListing): Source {
  const { integrity = {}, found } = options;
  const listed = listing && new Map(listing.files.map((file) => [file.path, file]));
  const paths = listed && [...listed.keys()];
  const pinned = listing ? { ...location, url: atCommit(location.url, listing.commit) } : location;
  const download = async (
    path: string,
    expected?: Integrity,
    over?: Partial<FetchOptions>,
  ): Promise<Blob | undefined> => {
    const name = root + path;
    const known = listed?.get(path);
    if (listed && !known) return undefined;
    const own = Object.hasOwn(integrity, name)
      ? mergeIntegrity({ [name]: expected ?? {} }, { [name]: integrity[name]! })[name]
      : expected;
    const blob = await fetchFile(
      locateFile(location, path),
      name,
      {
        ...options,
        from: locateFile(pinned, path),
        version: known?.id,
        ...(TEXT.test(path) && { maxBytes: MAX_TEXT_BYTES }),
        ...over,
      },
      known ? { bytes: known.bytes, ...own } : own,
    );
    if (blob) (over?.found ?? found)?.add(name);
    return blob;
  };
  const beginWith =
    (over: Partial<FetchOptions>): NonNullable<Source['begin']> =>
    (path, expected, maxBytes) =>
      void download(path, expected, { ...over, ...(maxBytes !== undefined && { maxBytes }) }).catch(() => {});
  return {
    url: location.url.href,
    read: (path, expected, maxBytes, onCopy) =>
      download(path, expected, { ...(maxBytes !== undefined && { maxBytes }), ...(onCopy && { onCopy }) }),
    paths,
    has: async (path) =>
      listed ? listed.has(path) : await isThere((report) => download(path, undefined, report), options),
    begin: options.downloads && beginWith({}),
    speculate: options.downloads && (() => speculativeReads(options, beginWith)),
    missing: (path) =>
      paths
        ? missingFrom(location.url.href, path, paths)
        : new TabServeError(
            'model-not-found',
            `${locateFile(location, path).href} is missing: there is no such file, or a page of HTML instead.`,
          ),
  };
}

/** Begins a download. Returns whether the server has the file as soon as it answers, while the download continues. */
async function isThere(
  download: (over: Pick<FetchOptions, 'onProgress'>) => Promise<Blob | undefined>,
  { onProgress }: FetchOptions,
): Promise<boolean> {
  return await new Promise((resolve, reject) => {
    // Only the beginning of a download is reported at once, because only a file that exists makes progress later.
    let isAnswer = false;
    const running = download({
      onProgress: (progress) => {
        if (isAnswer) resolve(true);
        onProgress?.(progress);
      },
    });
    isAnswer = true;
    running.then((blob) => resolve(blob !== undefined), reject);
  });
}

type Begin = NonNullable<Source['begin']>;

/**
 * Returns speculative reads from a folder on a server. Until `keep` is called, no other download joins theirs, and
 * their progress is not reported.
 * @param options those that the folder is read with
 * @param beginWith returns what begins a download with these options over the folder's own
 */
export function speculativeReads(
  { downloads, signal, onProgress }: Pick<FetchOptions, 'downloads' | 'signal' | 'onProgress'>,
  beginWith: (over: Pick<FetchOptions, 'downloads' | 'found' | 'signal' | 'onProgress'>) => Begin,
): SpeculativeReads {
  const begun = new Map<string, Promise<Blob | undefined>>();
  /** The first report of each file, which has its size, and the last one. */
  const untold = new Map<string, readonly FileProgress[]>();
  const dropped = new AbortController();
  let isKept = false;
  const beginSpeculative = beginWith({
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
    begin: (path, expected, maxBytes) => (isKept ? beginKept : beginSpeculative)(path, expected, maxBytes),
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

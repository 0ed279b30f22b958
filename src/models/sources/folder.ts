import { TabServeError } from '../../contract/errors.js';
import { fetchFile, type FetchOptions } from '../download/fetch-file.js';
import type { Integrity } from '../../contract/archive.js';
import { LARGEST_TEXT } from '../../contract/limits.js';
import { locateFile, type ModelUrl } from '../../shared/model-url.js';
import { mergeIntegrity } from '../integrity.js';
import { earlyReads } from './early-reads.js';
import type { Source } from './source.js';

const TEXT = /\.(json|ya?ml|txt)$/i;

/**
 * Returns the files of a folder on a server, or a file and those beside it. With `options.downloads`, files can begin to be downloaded before they are read.
 * @param place its query is sent with each file
 * @param root where the folder lies in the whole archive, for a workflow's node: see `Archive.root`
 */
export function folderSource(place: ModelUrl, options: FetchOptions, root = ''): Source {
  const { integrity = {}, found } = options;
  const download = async (
    path: string,
    expected?: Integrity,
    over?: Partial<FetchOptions>,
  ): Promise<Blob | undefined> => {
    const name = root + path;
    const own = Object.hasOwn(integrity, name) ? mergeIntegrity({ [name]: expected ?? {} }, { [name]: integrity[name]! })[name] : expected; // prettier-ignore
    const blob = await fetchFile(
      locateFile(place, path),
      name,
      { ...options, ...(TEXT.test(path) && { maxBytes: LARGEST_TEXT }), ...over },
      own,
    );
    if (blob) (over?.found ?? found)?.add(name);
    return blob;
  };
  const beginWith =
    (over: Partial<FetchOptions>): NonNullable<Source['begin']> =>
    (path, expected, maxBytes) =>
      void download(path, expected, { ...over, ...(maxBytes !== undefined && { maxBytes }) }).catch(() => {});
  return {
    url: place.url.href,
    read: (path, expected, maxBytes, onCopy) =>
      download(path, expected, { ...(maxBytes !== undefined && { maxBytes }), ...(onCopy && { onCopy }) }),
    has: async (path) => await isThere((report) => download(path, undefined, report), options),
    begin: options.downloads && beginWith({}),
    early: options.downloads && (() => earlyReads(options, beginWith)),
    missing: (path) =>
      new TabServeError(
        'model-not-found',
        `${locateFile(place, path).href} is missing: there is no such file, or a page of HTML in its place.`,
      ),
  };
}

/** Begins a download. Returns whether the server has the file as soon as it answers, while the download goes on. */
async function isThere(
  download: (over: Pick<FetchOptions, 'onProgress'>) => Promise<Blob | undefined>,
  { onProgress }: FetchOptions,
): Promise<boolean> {
  return await new Promise((resolve, reject) => {
    // What is reported at once is that a download begins; later on, only a file that exists makes progress.
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

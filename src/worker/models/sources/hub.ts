import type { HubListing } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import { MAX_LABELS_BYTES } from '../../../contract/limits.js';
import { hubRepositoryOf } from '../../../shared/hub.js';
import { listingUrl, readListing } from '../../../shared/hub-listing.js';
import { fetchFile, type FetchOptions } from '../download/fetch-file.js';
import { textOf } from '../read-blob.js';

/**
 * Asks the Hub which files a repository has. The answer is cached like a file of the repository: of a later visit, it is
 * all that the Hub is asked for, unless the files have changed.
 * @param url of a folder of the repository, or of a file in it
 * @returns what an earlier visit was told if the Hub's answer says nothing about the repository, as when it is
 *   overloaded; undefined without such a copy, and if the Hub refuses to list it: then each file is requested, as on any
 *   other server
 * @throws `network` if the Hub cannot be reached; `aborted`
 */
export async function fetchListing(url: URL, options: FetchOptions): Promise<HubListing | undefined> {
  const repository = hubRepositoryOf(url);
  if (!repository) return undefined;
  const { onProgress: _, integrity: __, found: ___, ...others } = options;
  let copy: Blob | undefined;
  const read = async (file: Blob | undefined): Promise<HubListing | undefined> =>
    file && readListing(await textOf(file), repository);
  try {
    const from = listingUrl(repository);
    // The folder's own URL: so the list is deleted with its files.
    const file = await fetchFile(new URL('.', url), 'the list of files', {
      ...others,
      from,
      maxBytes: MAX_LABELS_BYTES,
      onCopy: (earlier) => (copy = earlier),
    });
    return await read(file);
  } catch (error) {
    if (!(error instanceof TabServeError)) throw error;
    // Whether the repository is gated, private or not there is told when a file is asked for.
    if (error.code === 'model-not-found') return undefined;
    if (saysNothing(error)) return await read(copy);
    throw error;
  }
}

/** Returns whether the Hub has answered, and not about the repository. An error without a cause is an answer. */
function saysNothing({ code, cause }: TabServeError): boolean {
  return code === 'model-format' || (code === 'network' && cause === undefined);
}

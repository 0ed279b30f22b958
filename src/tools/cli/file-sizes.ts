import type { Archive } from '../../contract/archive.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { locateFile, readModelUrl } from '../../shared/model-url.js';
import { isMissing } from '../../worker/models/download/download-file.js';
import { localSource } from '../../worker/models/sources/packed.js';

/**
 * Returns the size of a file by its path in the archive: undefined if there is no such file, `unknown` if the server
 * does not say.
 * @throws `network` if the server cannot be asked
 */
export type SizeOf = (path: string) => Promise<number | 'unknown' | undefined>;

/** Returns what finds the sizes of an archive's files. Those on a server are asked for, and not downloaded. */
export async function fileSizes({
  url,
  local,
  root,
  listing,
}: Pick<Archive, 'url' | 'local' | 'root' | 'listing'>): Promise<SizeOf> {
  if (local) {
    const files = await localSource(url, local, {}, root);
    return async (path) => (await files.read(path))?.size;
  }
  if (listing) return async (path) => listing.files.find((file) => file.path === path)?.bytes;
  const location = readModelUrl(url);
  return async (path) => await sizeOnServer(locateFile(location, path));
}

/** Statuses of a server that does not know the method HEAD. */
const NO_HEAD = new Set([405, 501]);

async function sizeOnServer(url: URL): ReturnType<SizeOf> {
  let response = await ask(url, 'HEAD');
  if (NO_HEAD.has(response.status)) response = await ask(url, 'GET');
  await response.body?.cancel();
  if (isMissing(response)) return undefined;
  if (!response.ok) throw new TabServeError('network', `${url.href}: the server answers ${response.status}.`);
  const length = response.headers.get('content-length');
  return length === null || response.headers.has('content-encoding') ? 'unknown' : Number(length);
}

async function ask(url: URL, method: 'HEAD' | 'GET'): Promise<Response> {
  try {
    // The length of a compressed answer would not be the file's.
    return await fetch(url, { method, headers: { 'accept-encoding': 'identity' } });
  } catch (cause) {
    throw new TabServeError('network', `${url.href}: ${messageOf(cause)}.`, { cause });
  }
}

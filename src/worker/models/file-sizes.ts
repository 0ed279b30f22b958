import type { Archive } from '../../contract/archive.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { MAX_TEXT_BYTES } from '../../contract/limits.js';
import { formatOf, locateFile, readModelUrl } from '../../shared/model-url.js';
import { discard } from '../../shared/request-policy.js';
import { isMissing } from './download/download-file.js';
import { readText } from './json.js';
import type { RequestUrl } from './onnx/declared.js';
import { readWeightsManifest } from './shards.js';
import { localSource } from './sources/packed.js';

/**
 * Returns the size of a file by its path in the archive: undefined if there is no such file, `unknown` if the server
 * does not say.
 * @throws `network` if the server cannot be asked
 */
export type SizeOf = (path: string) => Promise<number | 'unknown' | undefined>;

type Located = Pick<Archive, 'url' | 'local' | 'root' | 'listing' | 'integrity' | 'models'>;

/** Returns the size of a file whose server could not be reached: undefined if there is none to use. */
type Unreachable = (url: URL, sha256: string | undefined, error: TabServeError) => Promise<number | undefined>;

/**
 * Returns what finds the sizes of an archive's files. Those on a server are asked for, and not downloaded; a server is
 * not asked for a file that `tabserve.json` does not list.
 * @param ifUnreachable called if the server cannot be reached, in place of throwing `network`
 */
export async function fileSizes(archive: Located, request: RequestUrl, ifUnreachable?: Unreachable): Promise<SizeOf> {
  const { url, local, root, listing, integrity, models } = archive;
  if (local) {
    const files = await localSource(url, local, {}, root);
    return async (path) => (await files.read(path))?.size;
  }
  if (listing) return async (path) => listing.files.find((file) => file.path === path)?.bytes;
  const location = readModelUrl(url);
  const isListed = Object.values(models).some((path) => Object.hasOwn(integrity, path));
  return async (path) => {
    if (isListed && !Object.hasOwn(integrity, path)) return undefined;
    const file = locateFile(location, path);
    try {
      return await sizeOnServer(file, request);
    } catch (error) {
      const isUnreachable = error instanceof TabServeError && error.code === 'network' && error.cause !== undefined;
      if (!isUnreachable || !ifUnreachable) throw error;
      return await ifUnreachable(file, integrity[path]?.sha256, error);
    }
  };
}

/** A model's files: its own, and those that hold its weights. */
export interface ModelBytes {
  readonly paths: readonly string[];
  /** Of all of them together. */
  readonly bytes: number | 'unknown';
}

/**
 * Returns the size of a model with its weights, which may be in other files; undefined if there is no such model.
 * @param read returns a file of the archive: `model.json` of TensorFlow.js says how large its weights are
 */
export async function modelSize(
  path: string,
  sizeOf: SizeOf,
  read: (path: string) => Promise<Blob | undefined>,
): Promise<ModelBytes | undefined> {
  const own = await sizeOf(path);
  if (own === undefined) return undefined;
  if (formatOf(path) === 'tfjs') {
    const model = await read(path);
    const groups = model ? readWeightsManifest(await readText(model, path, MAX_TEXT_BYTES), path) : [];
    return {
      paths: [path, ...groups.flatMap(({ paths }) => paths)],
      bytes: plus(
        own,
        groups.reduce((sum, { bytes }) => sum + bytes, 0),
      ),
    };
  }
  const paths = [path];
  let bytes: ModelBytes['bytes'] = own;
  // PyTorch's exporter writes one file; those of transformers.js number theirs, if there are several.
  for (const [first, next] of [[`${path}.data`], [`${path}_data`, `${path}_data_`]] as const)
    for (let file: string | undefined = first, index = 1; file; file = next && `${next}${index++}`) {
      const size = await sizeOf(file);
      if (size === undefined) break;
      paths.push(file);
      bytes = plus(bytes, size);
    }
  return { paths, bytes };
}

function plus(a: ModelBytes['bytes'], b: ModelBytes['bytes']): ModelBytes['bytes'] {
  return a === 'unknown' || b === 'unknown' ? 'unknown' : a + b;
}

/** Statuses of a server that does not know the method HEAD. */
const NO_HEAD = new Set([405, 501]);
/** The length of a compressed answer would not be the file's. Browsers ignore this header. */
const UNCOMPRESSED = { 'accept-encoding': 'identity' };

async function sizeOnServer(url: URL, request: RequestUrl): ReturnType<SizeOf> {
  let response = await ask(() => request(url, { method: 'HEAD', headers: UNCOMPRESSED }), url);
  if (NO_HEAD.has(response.status))
    response = await ask(() => request(url, { headers: { ...UNCOMPRESSED, range: 'bytes=0-0' } }), url);
  discard(response);
  if (isMissing(response)) return undefined;
  if (!response.ok) throw new TabServeError('network', `${url.href}: the server answers ${response.status}.`);
  const { headers, status } = response;
  const length = status === 206 ? headers.get('content-range')?.split('/')[1] : headers.get('content-length');
  return !length || !/^\d+$/.test(length) || headers.has('content-encoding') ? 'unknown' : Number(length);
}

async function ask(request: () => Promise<Response>, url: URL): Promise<Response> {
  try {
    return await request();
  } catch (cause) {
    if (cause instanceof TabServeError) throw cause;
    throw new TabServeError('network', `${url.href}: ${messageOf(cause)}.`, { cause });
  }
}

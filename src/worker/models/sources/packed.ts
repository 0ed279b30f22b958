import { loadScript } from '../../../shared/load-script.js';
import type { Archive, Integrity } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import { checkFile, normalizePaths } from '../integrity.js';
import { bytesOf, whileReading } from '../read-blob.js';
import { expectedOf, missingFrom, refusePointer, type Source } from './source.js';

/** Local files: in a zip file, or by path. */
export type LocalFiles = NonNullable<Archive['local']>;

/** `PK`. */
const ZIP_MAGIC = [0x50, 0x4b];
const GZIP_MAGIC = [0x1f, 0x8b];
/** `ustar`, after the first file's name, size and so on. */
const TAR_MAGIC = { at: 257, bytes: [0x75, 0x73, 0x74, 0x61, 0x72] };

/**
 * Returns what an archive's files can be read from: a zip file as it is, or the files of a tar file, which has to be
 * unpacked as a whole. The file's first bytes say what it is: TorchServe's `.mar` is a zip file.
 * @throws `model-format` if it is neither, or is damaged; `unsupported`
 */
export async function unpack(name: string, packed: Blob): Promise<LocalFiles> {
  const head = await bytesOf(packed.slice(0, TAR_MAGIC.at + TAR_MAGIC.bytes.length), name);
  const startsWith = (magic: readonly number[], at = 0): boolean =>
    magic.every((byte, index) => head[at + index] === byte);
  if (startsWith(ZIP_MAGIC)) return packed;
  const isGzip = startsWith(GZIP_MAGIC);
  if (isGzip || startsWith(TAR_MAGIC.bytes, TAR_MAGIC.at))
    return await whileReading(name, async () => {
      const unpackTar = await loadScript(async () => (await import('./tar.js')).unpackTar);
      return await unpackTar(name, packed, isGzip);
    });
  await refusePointer(packed, name);
  throw new TabServeError(
    'model-format',
    `${name} is no packed archive: expected a zip or a tar file, as .mar files are.`,
  );
}

/**
 * Returns the local files of an archive. Their paths are in NFC, and are found in any spelling.
 * @param integrity what they must be, in addition to what is expected of each
 * @param root the folder of a workflow's node: see `Archive.root`
 * @throws `model-format`, `unsupported` if it is a damaged zip file
 */
export async function localSource(
  url: string,
  local: LocalFiles,
  integrity: Readonly<Record<string, Integrity>> = {},
  root = '',
): Promise<Source> {
  const whole = local instanceof Blob ? await whileReading(url, () => openOnce(url, local)) : filesSource(url, local);
  const source = root === '' ? whole : subfolder(whole, url, root.normalize());
  const known = normalizePaths(integrity);
  return {
    ...source,
    async read(path, expected = {}) {
      const blob = await whileReading(url, () => source.read(path.normalize()));
      if (!blob) return undefined;
      await checkFile(blob, expected, path);
      await checkFile(blob, expectedOf(root + path, known), path);
      return blob;
    },
    has: (path) => source.has(path.normalize()),
  };
}

/** Returns the files of a folder. */
function subfolder({ paths = [], read, has }: Source, url: string, root: string): Source {
  const own = paths.filter((path) => path.startsWith(root)).map((path) => path.slice(root.length));
  return {
    url,
    paths: own,
    read: (path) => read(root + path),
    has: (path) => has(root + path),
    missing: (path) => missingFrom(url, path, own),
  };
}

/** The list of a zip file's files is read once: that takes longer than anything else in a file of thousands. */
const opened = new WeakMap<Blob, Promise<Source>>();

function openOnce(url: string, packed: Blob): Promise<Source> {
  const known = opened.get(packed);
  if (known) return known;
  const opening = loadScript(async () => (await import('./zip.js')).openZip).then((openZip) => openZip(url, packed));
  opened.set(packed, opening);
  opening.catch(() => opened.delete(packed));
  return opening;
}

/** Returns local files: those that the visitor picked, or that were unpacked. */
export function filesSource(url: string, files: Readonly<Record<string, Blob>>): Source {
  const paths = Object.keys(files);
  return {
    url,
    paths,
    has: (path) => Promise.resolve(Object.hasOwn(files, path)),
    read: (path) => Promise.resolve(Object.hasOwn(files, path) ? files[path] : undefined),
    missing: (path) => missingFrom(url, path, paths),
  };
}

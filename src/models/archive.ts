import type { Archive, Manifest, ModelConfig } from '../contract/archive.js';
import type { EngineName } from '../contract/backends.js';
import { TabServeError } from '../contract/errors.js';
import type { FetchOptions } from './download/fetch-file.js';
import { checkIntegrity, hashOf, mergeIntegrity, pendingEntries } from './integrity.js';
import { formatOf } from './manifest.js';
import { readWeightsManifest } from './shards.js';
import { beginFiles, sideFiles } from './side-files.js';
import { filesSource } from './sources/files.js';
import { folderSource } from './sources/folder.js';
import { readRequired, type Source } from './sources/source.js';
import { readTorchServe } from './torchserve.js';

const PACKED = /\.(mar|zip|tgz|tar\.gz)$/i;

export interface ArchiveOptions extends FetchOptions {
  /** Taken over the archive's own `model-config.yaml`. */
  readonly config?: ModelConfig | undefined;
}

/**
 * Downloads what is needed to choose a backend for an archive: manifest, `tabserve.json`, config and labels.
 * An archive is a folder with `MAR-INF/MANIFEST.json`, or one file: the `.onnx` or the `model.json` of a bare model, for which a manifest is made.
 * `fetchModel` downloads the other files. With `options.downloads` their download begins here, as far as the engine does not matter.
 * @throws `model-not-found`, `model-format`, `model-config`, `network`, `aborted`
 */
export async function fetchArchive(from: string | File, options: ArchiveOptions): Promise<Archive> {
  const found = options.found ?? new Set<string>();
  const archive = await readArchive(from, { ...options, found });
  const integrity = mergeIntegrity(archive.integrity, options.integrity);
  await checkIntegrity(archive.files, integrity);
  const unmatched = Object.keys(integrity).filter((path) => !found.has(path));
  return { ...archive, integrity, unmatched };
}

async function readArchive(from: string | File, options: ArchiveOptions): Promise<Archive> {
  const { config = {} } = options;
  if (typeof from !== 'string') return fileArchive(from, config);
  const url = new URL(from);
  if (PACKED.test(url.pathname))
    throw new TabServeError('unsupported', `${from}: packed archives cannot be served yet; unpack it into a folder.`);
  if (!formatOf(url.pathname)) {
    const folder = url.pathname.endsWith('/') ? url : new URL(`${url.pathname}/${url.search}`, url);
    return await readTorchServe(folderSource(folder, options), config);
  }
  const file = decodeURIComponent(url.pathname.slice(url.pathname.lastIndexOf('/') + 1));
  const archive = bareArchive(url.href, file, config);
  beginFiles(sourceOf(archive, options), archive);
  return archive;
}

/**
 * Downloads the model in one engine's format, the golden examples and the extra files, as far as the archive lacks them.
 * @param onPlanned called when the progress of every file has been told for the first time
 * @throws `model-not-found` also where the archive has no such format; `model-format`, `network`, `aborted`
 */
export async function fetchModel(
  archive: Archive,
  engine: EngineName,
  options: FetchOptions,
  onPlanned: () => void = () => {},
): Promise<Archive> {
  const path = archive.models[engine];
  if (path === undefined) throw new TabServeError('model-not-found', `${archive.url} has no model for ${engine}.`);
  const source = sourceOf(archive, options);
  const files: Record<string, Blob> = { ...archive.files };
  const download = async (one: string): Promise<void> => {
    if (!Object.hasOwn(files, one)) files[one] = await readRequired(source, one, archive.integrity);
  };
  const others = Promise.all(sideFiles(archive, engine).map(download));
  // Awaited below; a shard that fails first must not leave it unhandled.
  others.catch(() => {});
  const model = download(path);
  if (engine === 'onnx') onPlanned();
  await model;
  if (engine === 'tfjs') {
    const groups = readWeightsManifest(await files[path]!.text(), path);
    const shards = Promise.all(groups.flatMap(({ paths }) => paths).map(download));
    onPlanned();
    await shards;
    for (const { paths, bytes } of groups) checkSize(path, bytes, paths, files);
  }
  await others;
  const unmatched = pendingEntries({ ...archive, files });
  if (Object.keys(files).length === Object.keys(archive.files).length) return archive;
  await checkIntegrity(files, archive.integrity, archive.files);
  return { ...archive, files, unmatched };
}

/** SHA-256 of the model's files in one format; undefined where the browser has no Web Crypto (an insecure context). */
export async function hashModel({ files, models }: Archive, format: EngineName): Promise<string | undefined> {
  if (!globalThis.crypto?.subtle) return undefined;
  const path = models[format]!;
  const shards =
    format === 'tfjs' ? readWeightsManifest(await files[path]!.text(), path).flatMap(({ paths }) => paths) : [];
  return await hashOf([path, ...shards].map((one) => files[one]!));
}

function checkSize(
  path: string,
  bytes: number,
  shards: readonly string[],
  files: Readonly<Record<string, Blob>>,
): void {
  const size = shards.reduce((sum, shard) => sum + files[shard]!.size, 0);
  if (size < bytes)
    throw new TabServeError(
      'model-format',
      `${path} describes ${bytes} bytes of weights, but ${shards.join(', ')} hold ${size}: incomplete, or of another model.`,
    );
}

/** The archive of a model that is one file, or names its other files itself. */
function bareArchive(url: string, file: string, config: ModelConfig): Archive {
  const manifest: Manifest = { model: { modelName: file.replace(/\.\w+$/, ''), serializedFile: file } };
  return { url, manifest, config, models: { [formatOf(file)!]: file }, files: {}, golden: [], integrity: {} };
}

function fileArchive(file: File, config: ModelConfig): Archive {
  if (formatOf(file.name) !== 'onnx')
    throw new TabServeError(
      'model-format',
      `${file.name} is not a model in one file; expected a file ending in .onnx.`,
    );
  return { ...bareArchive(file.name, file.name, config), files: { [file.name]: file } };
}

/** Returns where the files of an archive are read from that were not read yet. */
function sourceOf({ url, files }: Archive, options: FetchOptions): Source {
  if (!URL.canParse(url)) return filesSource(url, files);
  const folder = new URL('.', url);
  folder.search = new URL(url).search;
  return folderSource(folder, options);
}

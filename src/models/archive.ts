import { archiveFor, type Archive, type ArchiveVariant, type Manifest, type ModelConfig } from '../contract/archive.js';
import { ENGINES, type EngineName } from '../contract/backends.js';
import { TabServeError } from '../contract/errors.js';
import { mergeConfig, parseConfig } from './config.js';
import { fetchFile, type FetchOptions } from './fetch.js';
import { checkIntegrity, hashOf } from './integrity.js';
import { EXTRAS, formatOf, MANIFEST, readExtras, readManifest, type Extras } from './manifest.js';
import { readWeightsManifest } from './shards.js';

const PACKED = /\.(mar|zip|tgz|tar\.gz)$/i;
/** TorchServe's name for the file with the labels. */
export const LABELS = 'index_to_name.json';

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
export async function fetchArchive(source: string | File, options: ArchiveOptions): Promise<Archive> {
  if (typeof source !== 'string') return fileArchive(source, options);
  const url = new URL(source);
  if (PACKED.test(url.pathname))
    throw new TabServeError('unsupported', `${source}: packed archives cannot be served yet; unpack it into a folder.`);
  if (!formatOf(url.pathname)) return await fetchFolder(url, options);
  const archive = bareArchive(
    url.href,
    decodeURIComponent(url.pathname.slice(url.pathname.lastIndexOf('/') + 1)),
    options,
  );
  begin(archive, options);
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
  const files: Record<string, Blob> = { ...archive.files };
  const download = async (one: string): Promise<void> => {
    if (!Object.hasOwn(files, one)) files[one] = await required(archive, one, options);
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
  if (Object.keys(files).length === Object.keys(archive.files).length) return archive;
  await checkIntegrity(files, archive.integrity, archive.files);
  return { ...archive, files };
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
function bareArchive(url: string, file: string, { config = {} }: ArchiveOptions): Archive {
  const manifest: Manifest = { model: { modelName: file.replace(/\.\w+$/, ''), serializedFile: file } };
  return { url, manifest, config, models: { [formatOf(file)!]: file }, files: {}, golden: [], integrity: {} };
}

function fileArchive(file: File, options: ArchiveOptions): Archive {
  if (formatOf(file.name) !== 'onnx')
    throw new TabServeError(
      'model-format',
      `${file.name} is not a model in one file; expected a file ending in .onnx.`,
    );
  return { ...bareArchive(file.name, file.name, options), files: { [file.name]: file } };
}

async function fetchFolder(url: URL, options: ArchiveOptions): Promise<Archive> {
  const base = url.pathname.endsWith('/') ? url : new URL(`${url.pathname}/${url.search}`, url);
  const [manifest, extras] = await Promise.all([
    optional(base, MANIFEST, options).then(async (blob) => readManifest(await present(base, MANIFEST, blob).text())),
    optional(base, EXTRAS, options).then(async (blob) => readExtras(blob ? await blob.text() : '{}')),
  ]);
  const { golden, integrity } = extras;
  const models = extras.models ?? modelOf(manifest, base);
  const archive: Archive = { url: base.href, manifest, config: {}, models, files: {}, golden, integrity };
  begin(archive, options);
  const files: Record<string, Blob> = {};
  const { configFile } = manifest.model;
  const labels = optional(base, LABELS, options).then((blob) => blob && (files[LABELS] = blob));
  if (configFile) files[configFile] = await required(archive, configFile, options);
  await labels;
  await checkIntegrity(files, integrity);
  const own = configFile ? await parseConfig(await files[configFile]!.text(), configFile) : {};
  const over = options.config ?? {};
  return { ...archive, ...readVariants(extras, own, over), config: mergeConfig(own, over), files };
}

function readVariants({ overrides }: Extras, own: ModelConfig, over: ModelConfig): Pick<Archive, 'variants'> {
  const variants = Object.entries(overrides).map(([engine, { config, golden }]): [string, ArchiveVariant] => [
    engine,
    { ...(config && { config: mergeConfig(mergeConfig(own, config), over) }), ...(golden && { golden }) },
  ]);
  return variants.length > 0 ? { variants: Object.fromEntries(variants) } : {};
}

/** Begins the downloads for which no engine need be chosen; `fetchModel` waits for them and tells of their failures. */
function begin(archive: Archive, options: FetchOptions): void {
  if (!options.downloads) return;
  const [engine, ...others] = ENGINES.filter((one) => archive.models[one] !== undefined);
  const paths = others.length > 0 ? sideFiles(archive) : [...sideFiles(archive, engine), archive.models[engine!]!];
  for (const path of paths) void required(archive, path, options).catch(() => {});
}

/** The paths of golden examples and of TorchServe's extra files, which lie at the archive's root whatever folder the manifest names. */
function sideFiles(archive: Archive, engine?: EngineName): readonly string[] {
  const { manifest, golden } = engine ? archiveFor(archive, engine) : archive;
  const extensions = (manifest.model.extensions ?? '').split(',').flatMap((path) => path.trim().split('/').pop() || []);
  return [...new Set([...golden, ...extensions])];
}

/** The manifest's own model, where `tabserve.json` names none. */
function modelOf({ model: { serializedFile } }: Manifest, base: URL): Archive['models'] {
  const format = serializedFile === undefined ? undefined : formatOf(serializedFile);
  if (format) return { [format]: serializedFile };
  throw new TabServeError(
    'model-format',
    `The manifest of ${base.href} names ${serializedFile ? `"${serializedFile}"` : 'no serializedFile'}; expected a file ending in .onnx or .json.`,
  );
}

/** Returns the folder that paths in the archive are relative to. */
function folderOf({ url }: Archive): URL {
  const file = new URL(url);
  const folder = new URL('.', file);
  folder.search = file.search;
  return folder;
}

async function required(archive: Archive, path: string, options: FetchOptions): Promise<Blob> {
  const base = folderOf(archive);
  const expected = Object.hasOwn(archive.integrity, path) ? archive.integrity[path] : {};
  return present(base, path, await fetchFile(locate(base, path), path, options, expected));
}

async function optional(base: URL, path: string, options: FetchOptions): Promise<Blob | undefined> {
  return await fetchFile(locate(base, path), path, options);
}

function present(base: URL, path: string, blob: Blob | undefined): Blob {
  if (blob) return blob;
  throw new TabServeError(
    'model-not-found',
    `${locate(base, path).href} is missing: the server answered 404, or a page of HTML.`,
  );
}

/** Returns a file's URL. @throws `model-format` if it is not in the archive's folder */
function locate(base: URL, path: string): URL {
  let url: URL;
  try {
    url = new URL(path.replace(/[%?#]/g, encodeURIComponent), base);
  } catch (cause) {
    throw new TabServeError('model-format', `The archive names "${path}", which is no path.`, { cause });
  }
  url.search = base.search;
  if (url.origin !== base.origin || !url.pathname.startsWith(base.pathname))
    throw new TabServeError('model-format', `The archive names "${path}", which lies outside of it.`);
  return url;
}

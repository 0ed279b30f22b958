import { loadScript } from '../../shared/load-script.js';
import { type Archive, type HubListing, type Manifest, type ModelConfig } from '../../contract/archive.js';
import type { ModelFormat } from '../../contract/backends.js';
import { TabServeError } from '../../contract/errors.js';
import { mergeConfig, readConfig } from './config.js';
import type { FetchOptions } from './download/fetch-file.js';
import { formatOf, HF_CONFIG, isPacked, isRepository, readModelUrl } from '../../shared/model-url.js';
import type { FindHandler } from './hugging-face/read.js';
import { checkFile, checkIntegrity, inFolder, mergeIntegrity, normalizePaths } from './integrity.js';
import { EXTRAS, LABELS, MANIFEST, WORKFLOW_MANIFEST } from './manifest.js';
import { beginFiles } from './side-files.js';
import { folderSource } from './sources/folder.js';
import { listFiles } from './sources/listing.js';
import { localSource, unpack, type LocalFiles } from './sources/packed.js';
import { expectedOf, readRequired, type Source } from './sources/source.js';
import { TASKS } from '../tasks/index.js';
import { readTorchServe } from './torchserve.js';

export interface ArchiveOptions extends FetchOptions {
  /** Overrides the archive's own `model-config.yaml`. */
  readonly config?: ModelConfig | undefined;
  /** The name of the handler that the caller has chosen. */
  readonly handler?: string | undefined;
  /** For a repository of Hugging Face's: the class of the handler that serves it says what follows from its files. */
  readonly handlerClass?: FindHandler | undefined;
  /**
   * Called with what the archive's manifest says, while other files are still being read.
   * @param isCertain false for the copy of an earlier visit: the server may have another one, which a second call tells
   */
  readonly onManifest?: ((found: ManifestFound, isCertain: boolean) => void) | undefined;
  /** See `Archive.root`. */
  readonly root?: string | undefined;
}

/** What is known of an archive before its config. */
export interface ManifestFound extends Pick<Archive, 'manifest' | 'models'> {
  /** Begins to read the model in one format, if that is certain before the rest of the archive is known. */
  readonly begin: (format: ModelFormat) => void;
}

/** Where an archive is: a URL, a file that the visitor picked, or several of them by path. */
export type ArchiveLocation = string | File | Readonly<Record<string, Blob>>;

/** Where the archive of a workflow's node is, if its files are local. */
export interface LocalPart {
  readonly url: string;
  readonly local: LocalFiles;
  /** The model's file in it; undefined for an archive. */
  readonly file: string | undefined;
}

/**
 * Downloads what is needed to choose a backend for an archive: manifest, `tabserve.json`, config and labels; a packed
 * archive as a whole. An archive is a folder with `MAR-INF/MANIFEST.json`, a folder or a repository with Hugging Face's
 * `config.json`, such a folder packed into one file, or a bare model: the `.onnx` or the `model.json` alone, for which
 * a manifest is made. `fetchModel` reads the other files. With `options.downloads` their download begins here, as far
 * as the engine does not matter.
 * @throws `model-not-found`, `model-format`, `model-config`, `unsupported`, `network`, `aborted`
 */
export async function fetchArchive(
  from: ArchiveLocation | { readonly part: LocalPart },
  options: ArchiveOptions,
): Promise<Archive> {
  const found = options.found ?? new Set<string>();
  const { root } = options;
  const archive = await readArchive(from, { ...options, found });
  // The paths of local files are in NFC, whatever the spelling of the entry; a server has them as they are.
  const spell = archive.local ? normalizePaths : (entries: Archive['integrity']) => entries;
  const expected = root === undefined ? options.integrity : inFolder(options.integrity ?? {}, root);
  const integrity = mergeIntegrity(spell(archive.integrity), spell(expected ?? {}));
  await checkIntegrity(archive.files, integrity);
  const unmatched = Object.keys(integrity).filter((path) => !found.has((root ?? '') + path));
  return { ...archive, integrity, unmatched, ...(root !== undefined && { root }) };
}

async function readArchive(from: Parameters<typeof fetchArchive>[0], options: ArchiveOptions): Promise<Archive> {
  const { config = {} } = options;
  if (typeof from === 'object' && 'part' in from && !(from.part instanceof Blob)) {
    const { url, local, file } = from.part;
    return file === undefined ? await readLocal(url, local, options) : { ...bareArchive(url, file, config), local };
  }
  if (from instanceof File) return await readFile(from, options);
  if (typeof from !== 'string') return await readFiles(from as Readonly<Record<string, Blob>>, options);
  const location = readModelUrl(from);
  const listing = isRepository(location.url.href) ? await listOf(location.url, options) : undefined;
  const source = folderSource(location, options, options.root, listing);
  const { file } = location;
  if (file === undefined) return withListing(await readFolder(source, options), listing);
  if (isPacked(file)) {
    const packed = await readRequired(source, file, {});
    return await readLocal(source.url, await unpack(file, packed), options);
  }
  const archive = bareArchive(source.url, file, config);
  beginFiles(source, archive);
  const { processor, besideModel } = TASKS[options.handler ?? ''] ?? {};
  if (!besideModel && processor !== 'tokenizer' && processor !== 'both') return withListing(archive, listing);
  const beside = await loadScript(async () => await import('./hugging-face/beside.js'));
  const whole = besideModel
    ? beside.withFilesBeside(source, archive, besideModel)
    : beside.withTokenizer(source, archive);
  return withListing(await whole, listing);
}

async function listOf(url: URL, options: ArchiveOptions): Promise<HubListing | undefined> {
  const fetchListing = await loadScript(async () => (await import('./sources/hub.js')).fetchListing);
  return await fetchListing(url, options);
}

/** Returns an archive, and those of its nodes in the same folder, with the list of the folder's files. */
function withListing(archive: Archive, listing: HubListing | undefined): Archive {
  if (!listing) return archive;
  const nodes = Object.entries(archive.nodes ?? {}).map(([name, node]) => [name, { ...node, listing }] as const);
  return { ...archive, listing, ...(nodes.length > 0 && { nodes: Object.fromEntries(nodes) }) };
}

/**
 * Reads the files in their layout. A repository of huggingface.co has Hugging Face's.
 * @throws `model-not-found` if they have none
 */
async function readFolder(
  source: Source,
  { handler, config = {}, handlerClass, onManifest }: ArchiveOptions,
): Promise<Archive> {
  const readRepository = async (): Promise<Archive | undefined> => {
    const read = await loadScript(async () => (await import('./hugging-face/read.js')).readHuggingFace);
    return await read(source, { handler, config, handlerClass });
  };
  const archive =
    (isRepository(source.url) ? undefined : await readTorchServe(source, config, onManifest)) ??
    (await readRepository());
  if (archive) return archive;
  if (source.paths && isRepository(source.url))
    throw await (
      await loadScript(async () => (await import('./hugging-face/no-model.js')).noRepository)
    )(source);
  if (source.paths) throw source.missing(MANIFEST);
  throw new TabServeError(
    'model-not-found',
    `There is no model archive at ${source.url}: neither ${MANIFEST} nor ${HF_CONFIG} is there. Check the URL: it may name a folder, or an .onnx, .mar, .zip or .tar.gz file.`,
  );
}

/** Returns the archive of a model that is one file, or names its other files itself. */
function bareArchive(url: string, file: string, config: ModelConfig): Archive {
  const manifest: Manifest = { model: { modelName: file.replace(/\.\w+$/, ''), serializedFile: file } };
  return { url, manifest, config, models: { [formatOf(file)!]: file }, files: {}, golden: [], integrity: {} };
}

async function readFile(file: File, options: ArchiveOptions): Promise<Archive> {
  const name = file.name.normalize();
  if (isPacked(name)) {
    await checkFile(file, expectedOf(name, normalizePaths(options.integrity ?? {})), name);
    options.found?.add(name);
    return await readLocal(name, await unpack(name, file), options);
  }
  if (formatOf(name) === 'onnx') return await readLocal(name, { [name]: file }, options);
  throw new TabServeError(
    'model-format',
    `${name} is not a model in one file; expected a file ending in .onnx, .mar, .zip or .tar.gz, or all files of the model together.`,
  );
}

async function readFiles(files: Readonly<Record<string, Blob>>, options: ArchiveOptions): Promise<Archive> {
  const name = Object.keys(files)[0]?.split('/')[0] ?? 'no files';
  return await readLocal(name, Object.fromEntries(listFiles(name, Object.entries(files))), options);
}

/** Reads local files in their layout. */
async function readLocal(url: string, local: LocalFiles, options: ArchiveOptions): Promise<Archive> {
  const { config = {}, root = '' } = options;
  const source = await localSource(url, local, options.integrity, root);
  for (const path of source.paths!) options.found?.add(root + path);
  if (source.paths!.includes(WORKFLOW_MANIFEST)) {
    const readWar = await loadScript(async () => (await import('./war.js')).readWar);
    return { ...(await readWar(source, config)), local };
  }
  const model = bareModel(source);
  if (model === undefined) return { ...(await readFolder(source, options)), local };
  const text = await source.read(CONFIG);
  const own = text ? await readConfig(text, CONFIG) : {};
  return { ...bareArchive(url, model, mergeConfig(own, config)), ...(text && { files: { [CONFIG]: text } }), local };
}

/** The usual name of the config, where no manifest says another. */
const CONFIG = 'model-config.yaml';

/** Returns the only model among files without a manifest. @throws `model-not-found` if there are several ONNX models */
function bareModel(source: Source): string | undefined {
  const { paths = [] } = source;
  if (paths.includes(MANIFEST) || paths.includes(EXTRAS) || paths.includes(HF_CONFIG)) return undefined;
  const models = paths.filter((path) => !path.includes('/') && path !== LABELS && formatOf(path));
  const onnx = models.filter((path) => formatOf(path) === 'onnx');
  if (onnx.length > 1)
    throw new TabServeError(
      'model-not-found',
      `${source.missing(MANIFEST).message} Which of its ${onnx.length} models is meant? Pass only that one, with the files that belong to it.`,
    );
  const [model, ...others] = onnx.length > 0 ? onnx : models;
  return others.length > 0 ? undefined : model;
}

import type { Archive, Integrity, Manifest, ModelConfig } from '../contract/archive.js';
import { ENGINES, type EngineName } from '../contract/backends.js';
import { TabServeError } from '../contract/errors.js';
import { mergeConfig, parseConfig } from './config.js';
import { fetchFile, type FetchOptions } from './fetch.js';
import { checkIntegrity, hashOf } from './integrity.js';
import { readWeightsManifest } from './shards.js';

/** The format of each engine, by the ending of the file's name. */
const WEIGHTS: Readonly<Record<EngineName, RegExp>> = { onnx: /\.onnx$/i, tfjs: /\.json$/i };
const PACKED = /\.(mar|zip|tgz|tar\.gz)$/i;

export interface ArchiveOptions extends FetchOptions {
  /** Taken over the archive's own `model-config.yaml`. */
  readonly config?: ModelConfig | undefined;
}

/**
 * Downloads a model archive: a folder with `MAR-INF/MANIFEST.json`, or bare weights (`.onnx`, or the `model.json` of TensorFlow.js), for which a manifest is made.
 * A file is bare weights too, `.onnx` alone: those of a `model.json` are files of their own.
 * A model in several formats is not downloaded yet: `fetchModel` does so in the one that is wanted.
 * @throws `model-not-found`, `model-format`, `model-config`, `network`, `aborted`
 */
export async function fetchArchive(source: string | File, options: ArchiveOptions): Promise<Archive> {
  if (typeof source !== 'string') return fileArchive(source, options);
  const url = source;
  const base = new URL(url);
  if (PACKED.test(base.pathname))
    throw new TabServeError('unsupported', `${url}: packed archives cannot be served yet; unpack it into a folder.`);
  return formatOf(base.pathname)
    ? await fetchOnlyModel(bareArchive(base, options), options)
    : await fetchFolder(base, options);
}

async function fetchOnlyModel(archive: Archive, options: FetchOptions): Promise<Archive> {
  const [format, ...others] = Object.keys(archive.models) as EngineName[];
  return others.length === 0 ? await fetchModel(archive, format!, options) : archive;
}

/**
 * The archive with its model's files in one format; they are downloaded if it has them not.
 * @throws `model-not-found` also where the archive has no such format; `model-format`, `network`, `aborted`
 */
export async function fetchModel(archive: Archive, format: EngineName, options: FetchOptions): Promise<Archive> {
  const path = archive.models[format];
  if (path === undefined) throw new TabServeError('model-not-found', `${archive.url} has no model for ${format}.`);
  if (archive.files[path]) return archive;
  const base = folderOf(archive);
  const model = await required(base, path, options);
  const files: Record<string, Blob> = { ...archive.files, [path]: model };
  if (format === 'tfjs') {
    const groups = readWeightsManifest(await model.text(), path);
    await Promise.all(
      groups.flatMap(({ paths }) => paths).map(async (shard) => (files[shard] = await required(base, shard, options))),
    );
    for (const { paths, bytes } of groups) checkSize(path, bytes, paths, files);
  }
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

/** The engine that opens such a file. */
function formatOf(path: string): EngineName | undefined {
  return ENGINES.find((engine) => WEIGHTS[engine].test(path));
}

function bareArchive(url: URL, { config = {} }: ArchiveOptions): Archive {
  const serializedFile = decodeURIComponent(url.pathname.slice(url.pathname.lastIndexOf('/') + 1));
  const manifest: Manifest = { model: { modelName: serializedFile.replace(/\.\w+$/, ''), serializedFile } };
  return {
    url: url.href,
    manifest,
    config,
    models: { [formatOf(serializedFile)!]: serializedFile },
    files: {},
    golden: [],
    integrity: {},
  };
}

function fileArchive(file: File, { config = {} }: ArchiveOptions): Archive {
  if (formatOf(file.name) !== 'onnx')
    throw new TabServeError(
      'model-format',
      `${file.name} is no model that comes in one file; expected one ending in .onnx.`,
    );
  const manifest: Manifest = { model: { modelName: file.name.replace(/\.\w+$/, ''), serializedFile: file.name } };
  return {
    url: file.name,
    manifest,
    config,
    models: { onnx: file.name },
    files: { [file.name]: file },
    golden: [],
    integrity: {},
  };
}

/** What paths in the archive are relative to. */
function folderOf({ url }: Archive): URL {
  const file = new URL(url);
  const folder = new URL('.', file);
  folder.search = file.search;
  return folder;
}

async function fetchFolder(url: URL, options: ArchiveOptions): Promise<Archive> {
  const base = url.pathname.endsWith('/') ? url : new URL(`${url.pathname}/${url.search}`, url);
  const [manifest, blob] = await Promise.all([
    required(base, MANIFEST, options).then(readManifest),
    optional(base, EXTRAS, options),
  ]);
  const extras: unknown = blob && (await parseJson(blob, EXTRAS));
  const models = readModels(extras) ?? modelOf(manifest, base);
  const { golden, integrity } = readProof(extras);
  const { configFile, extensions } = manifest.model;
  const files: Record<string, Blob> = {};
  const wanted = new Set([
    ...golden,
    ...(configFile ? [configFile] : []),
    ...(extensions ?? '').split(',').flatMap((path) => path.trim().split('/').pop() || []),
  ]);
  const [archive] = await Promise.all([
    fetchOnlyModel({ url: base.href, manifest, config: {}, models, files: {}, golden, integrity }, options),
    ...[...wanted].map(async (path) => (files[path] = await required(base, path, options))),
    optional(base, LABELS, options).then((labels) => labels && (files[LABELS] = labels)),
  ]);
  await checkIntegrity(files, integrity);
  const own = configFile ? await parseConfig(await files[configFile]!.text(), configFile) : {};
  return { ...archive, config: mergeConfig(own, options.config ?? {}), files: { ...archive.files, ...files } };
}

const MANIFEST = 'MAR-INF/MANIFEST.json';
/** What TabServe adds to TorchServe's archive. */
const EXTRAS = 'tabserve.json';
/** TorchServe's name for the file with the labels. */
export const LABELS = 'index_to_name.json';

async function readManifest(blob: Blob): Promise<Manifest> {
  const manifest = (await parseJson(blob, MANIFEST)) as Partial<Manifest> | null;
  if (typeof manifest?.model?.modelName !== 'string')
    throw new TabServeError('model-format', `${MANIFEST} has no model.modelName.`);
  return manifest as Manifest;
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

/** `models` of `tabserve.json`: the model's path by engine; undefined where it has none. */
function readModels(extras: unknown): Archive['models'] | undefined {
  const models = (extras as { models?: unknown } | null)?.models;
  if (models === undefined) return undefined;
  const entries = typeof models === 'object' && models !== null ? Object.entries(models) : [];
  if (entries.length === 0)
    throw new TabServeError('model-format', `${EXTRAS}: models must name a file for ${ENGINES.join(' or ')}.`);
  for (const [engine, path] of entries) {
    if (!(ENGINES as readonly string[]).includes(engine))
      throw new TabServeError(
        'model-format',
        `${EXTRAS}: models.${engine} is no engine; expected ${ENGINES.join(' or ')}.`,
      );
    const ending = WEIGHTS[engine as EngineName];
    if (typeof path !== 'string' || !ending.test(path)) {
      throw new TabServeError(
        'model-format',
        `${EXTRAS}: models.${engine} must be the path of a file ending in ${engine === 'onnx' ? '.onnx' : '.json'}, got ${JSON.stringify(path)}.`,
      );
    }
  }
  return Object.fromEntries(entries) as Archive['models'];
}

/** `golden` (paths) and `files` (what each must be, by path) of `tabserve.json`. */
function readProof(extras: unknown): Pick<Archive, 'golden' | 'integrity'> {
  const { golden = [], files = {} } = (extras ?? {}) as { golden?: unknown; files?: unknown };
  if (!Array.isArray(golden) || !golden.every((path) => typeof path === 'string')) {
    throw new TabServeError(
      'model-format',
      `${EXTRAS}: golden must be a list of paths, got ${JSON.stringify(golden)}.`,
    );
  }
  if (typeof files !== 'object' || files === null || !Object.values(files).every(isIntegrity)) {
    throw new TabServeError(
      'model-format',
      `${EXTRAS}: files must map paths to { bytes, sha256 }, got ${JSON.stringify(files)}.`,
    );
  }
  return { golden, integrity: files as Readonly<Record<string, Integrity>> };
}

function isIntegrity(value: unknown): value is Integrity {
  if (typeof value !== 'object' || value === null) return false;
  const { bytes, sha256 } = value as { bytes?: unknown; sha256?: unknown };
  return (
    (bytes === undefined || typeof bytes === 'number') &&
    (sha256 === undefined || (typeof sha256 === 'string' && /^[\da-f]{64}$/i.test(sha256)))
  );
}

async function parseJson(blob: Blob, path: string): Promise<unknown> {
  try {
    return JSON.parse(await blob.text()) as unknown;
  } catch (cause) {
    throw new TabServeError('model-format', `${path} is not JSON.`, { cause });
  }
}

async function required(base: URL, path: string, options: FetchOptions): Promise<Blob> {
  const blob = await optional(base, path, options);
  if (!blob)
    throw new TabServeError(
      'model-not-found',
      `${locate(base, path).href} is not there: the server answered 404, or a page of HTML.`,
    );
  return blob;
}

async function optional(base: URL, path: string, options: FetchOptions): Promise<Blob | undefined> {
  return await fetchFile(locate(base, path), path, options);
}

/** A file's URL, which must lie in the archive's folder. */
function locate(base: URL, path: string): URL {
  const url = new URL(path.replace(/[%?#]/g, encodeURIComponent), base);
  url.search = base.search;
  if (url.origin !== base.origin || !url.pathname.startsWith(base.pathname))
    throw new TabServeError('model-format', `The archive names "${path}", which lies outside of it.`);
  return url;
}

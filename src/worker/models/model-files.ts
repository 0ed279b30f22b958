import type { Archive, BlobFiles } from '../../contract/archive.js';
import { precisionOf } from '../../contract/archive-parts.js';
import { formatOfEngine, type EngineName, type ModelFormat } from '../../contract/backends.js';
import { shorten } from '../../contract/describe-value.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import { MAX_TEXT_BYTES, MAX_FILES } from '../../contract/limits.js';
import type { Precision } from '../../contract/precisions.js';
import { chooseModel } from './choose-model.js';
import type { FetchOptions } from './download/fetch-file.js';
import { besideModel, readExternalData } from './onnx/external-data.js';
import { locateFile, readModelUrl } from '../../shared/model-url.js';
import { readGraph } from './onnx/graph.js';
import { createFiles } from './files.js';
import { hashOf } from '../../shared/hash.js';
import { checkIntegrity, pendingEntries } from './integrity.js';
import { readText } from './json.js';
import { EXTRAS, MANIFEST } from './manifest.js';
import { bytesOf, whileReading } from './read-blob.js';
import { readWeightsManifest, type ShardGroup } from './shards.js';
import { sideFiles } from './side-files.js';
import { filesSource, localSource } from './sources/packed.js';
import { folderSource } from './sources/folder.js';
import { readRequired, type Source } from './sources/source.js';
import { isWorkflowOnly } from './torchserve.js';

export interface ModelOptions extends FetchOptions {
  /** The precisions that are wanted of the archive's alternatives, best first. @default full precision first */
  readonly precisions?: readonly Precision[] | undefined;
}

/**
 * Downloads the model in one engine's format, the golden examples and the extra files, as far as the archive lacks
 * them. Of a model in several precisions, the first that exists; the answer's `models` name it.
 * @param onPlanned called when the progress of every file has been reported for the first time
 * @throws `model-not-found` also where the archive has no such format; `model-format`, `network`, `aborted`; what
 *   `chooseModel` throws. Its `precision` is set if the file of one is damaged or incomplete
 */
export async function fetchModel(
  whole: Archive,
  engine: EngineName,
  options: ModelOptions,
  onPlanned: () => void = () => {},
): Promise<Archive> {
  const format = formatOfEngine(engine);
  const hasModel = format !== undefined && !isWorkflowOnly(whole);
  if (hasModel && whole.models[format] === undefined)
    throw new TabServeError('model-not-found', `${whole.url} has no model for ${engine}.`);
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])]);
  const source = await sourceOf(whole, { ...options, signal });
  const files: Record<string, Blob> = { ...whole.files };
  const download = async (one: string): Promise<void> => {
    if (!Object.hasOwn(files, one)) files[one] = await readRequired(source, one, whole.integrity);
  };
  const downloadModel = async (): Promise<Archive> => {
    if (!hasModel) {
      onPlanned();
      return whole;
    }
    const archive = await chooseModel(source, whole, format, options.precisions);
    await blaming(archive, engine, () => downloadChosen(archive.models[format]!));
    return archive;
  };
  const downloadChosen = async (path: string): Promise<void> => {
    const model = download(path);
    if (engine === 'onnx') onPlanned();
    await model;
    if (engine === 'onnx') await Promise.all((await externalFiles(files[path]!, path)).map(download));
    if (engine !== 'tfjs') return;
    const groups = readWeightsManifest(await readText(files[path]!, path, MAX_TEXT_BYTES), path);
    const shards = Promise.all(groups.flatMap(({ paths }) => paths).map(download));
    onPlanned();
    await shards;
    for (const group of groups) checkSize(path, group, files);
  };
  const others = sideFiles(whole, engine).map(download);
  const [archive] = await Promise.all([downloadModel(), ...others]).catch((error: unknown) => {
    // The first failure stops the other downloads.
    stop.abort();
    throw error;
  });
  const unmatched = pendingEntries({ ...archive, files });
  if (Object.keys(files).length === Object.keys(archive.files).length) return archive;
  const beside = Object.fromEntries(sideFiles(whole, engine).map((path) => [path, files[path]!]));
  await checkIntegrity(beside, archive.integrity, archive.files);
  await blaming(archive, engine, () => checkIntegrity(files, archive.integrity, { ...archive.files, ...beside }));
  return { ...archive, files, unmatched, local: archive.local && (isUsedUp(source, files) ? {} : archive.local) };
}

/**
 * Reads the file of an archive's model. If it is damaged or incomplete, the error has its precision, because another
 * one may work. If a file is missing, the error says how to use the model in another format.
 */
async function blaming(archive: Archive, engine: EngineName, read: () => Promise<void>): Promise<void> {
  try {
    await read();
  } catch (error) {
    const { code, message, cause } = asTabServeError(error);
    const isMissing = code === 'model-not-found';
    if (!isMissing && code !== 'model-format') throw error;
    const other = Object.keys(archive.models).find((one) => one !== engine);
    const advice =
      isMissing && other
        ? ` To use ${other}, name ${other}/wasm in backends, or remove models.${engine} from tabserve.json.`
        : '';
    throw new TabServeError(code, message + advice, { cause, precision: precisionOf(archive, engine) });
  }
}

/**
 * Returns read access to an archive's files, also to those of a packed archive that were not read yet.
 * @throws `model-format`, `unsupported`
 */
export async function openFiles({ url, files, local, integrity, root }: Archive): Promise<BlobFiles> {
  const source = local && (await localSource(url, local, {}, root));
  // The visitor's files have no URL.
  const location = url.includes('://') ? readModelUrl(url) : undefined;
  if (!source) return { ...createFiles(files), ...(location && { url: (path) => locateFile(location, path) }) };
  return createFiles(files, {
    paths: source.paths!,
    read: async (path) => await readRequired(source, path, integrity),
  });
}

/**
 * Returns the SHA-256 of the model's files in one format; undefined where the browser has no Web Crypto (an insecure
 * context).
 */
export async function hashModel({ files, models }: Archive, format: ModelFormat): Promise<string | undefined> {
  if (!globalThis.crypto?.subtle) return undefined;
  const path = models[format]!;
  const shards =
    format === 'tfjs'
      ? readWeightsManifest(await readText(files[path]!, path, MAX_TEXT_BYTES), path).flatMap(({ paths }) => paths)
      : await externalFiles(files[path]!, path);
  return await whileReading(path, () => hashOf([path, ...shards].map((one) => files[one]!)));
}

/** Returns the paths of the files with an ONNX model's large tensors. */
async function externalFiles(model: Blob, path: string): Promise<readonly string[]> {
  const bytes = (await whileReading(path, () => readGraph(model))) ?? (await bytesOf(model, path));
  const locations = readExternalData(bytes);
  if (locations.length > MAX_FILES)
    throw new TabServeError(
      'model-format',
      `${path} has its tensors in ${locations.length} files; a model may have ${MAX_FILES}.`,
    );
  return locations.map((location) => besideModel(path, location));
}

/** Checks that the files of a group of weights have the bytes that the weights take up, no less and no more. */
function checkSize(path: string, { paths, bytes, atLeast }: ShardGroup, files: Archive['files']): void {
  const size = paths.reduce((sum, shard) => sum + files[shard]!.size, 0);
  if (size === bytes || (atLeast && size > bytes)) return;
  throw new TabServeError(
    'model-format',
    `${path} describes ${bytes} bytes of weights, but ${shorten(paths.join(', ') || 'no file')} hold ${size}: incomplete, or of another model.`,
  );
}

/** Returns where the files of an archive are read from that were not read yet. */
export async function sourceOf({ url, local, root, listing }: Archive, options: FetchOptions): Promise<Source> {
  if (local) return await localSource(url, local, {}, root);
  // The visitor's files, all of which were read.
  return url.includes('://') ? folderSource(readModelUrl(url), options, root, listing) : filesSource(url, {});
}

/** Files that no handler here can use. */
const FOREIGN = /\.(py|pyc|pt|pth)$/i;

/** Returns whether nothing is left to read, so that the packed bytes need not be retained. */
function isUsedUp({ paths }: Source, files: Archive['files']): boolean {
  return !!paths?.every(
    (path) => Object.hasOwn(files, path) || path === MANIFEST || path === EXTRAS || FOREIGN.test(path),
  );
}

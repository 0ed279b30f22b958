import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Archive, Integrity, Manifest } from '../../contract/archive.js';
import { enginesOf } from '../../contract/archive-parts.js';
import { TabServeError } from '../../contract/errors.js';
import { VERSION } from '../../contract/version.js';
import { HANDLER_NAMES, loadHandler } from '../../worker/handlers/registry.js';
import { EXTRAS, MANIFEST, readExtras } from '../../worker/models/manifest.js';
import { formatOf } from '../../shared/model-url.js';
import { readWeightsManifest } from '../../worker/models/shards.js';
import { LABELS } from '../../worker/models/manifest.js';
import { besideModel, readExternalData } from '../../worker/models/onnx/external-data.js';
import { checkSegment } from '../../server/registry.js';
import {
  addExtraFiles,
  addFile,
  integrityOf,
  LEFT_OUT,
  readLocal,
  refuseUrl,
  type ArchiveFiles,
} from './archive-files.js';
import { parseConfigFile } from './parse-config-file.js';
import { checkArchive, readArchive } from './check.js';
import { wrongFlag } from './flags.js';
import { addHuggingFace } from './hugging-face.js';
import { makeGoldenExamples, type GoldenExample } from './golden-examples.js';
import { openLocally } from './local-model.js';
import { ARCHIVE_FORMATS, checkTarget, writeArchive, type ArchiveFormat } from './write-archive.js';

/** The flags of `tabserve archive`: torch-model-archiver's, and `golden`. */
export interface ArchiveFlags {
  readonly 'model-name'?: string | undefined;
  readonly version?: string | undefined;
  readonly 'serialized-file'?: string | undefined;
  readonly handler?: string | undefined;
  readonly 'extra-files'?: string | undefined;
  readonly 'config-file'?: string | undefined;
  readonly 'export-path'?: string | undefined;
  readonly 'archive-format'?: string | undefined;
  readonly golden?: string | undefined;
  readonly force?: boolean | undefined;
  readonly check?: boolean | undefined;
}

/** What `createArchive` has written. */
export interface CreatedArchive {
  /** The file, or the folder. */
  readonly path: string;
  /** Each file with its size, in the order of the archive. */
  readonly files: readonly (readonly [path: string, bytes: number])[];
  /** What `checkArchive` has found, with `check`. */
  readonly checked: string | undefined;
  /** Problems that do not stop the command. */
  readonly warnings: readonly string[];
}

const NAME = /^[A-Za-z0-9][\w.-]*$/;

/** @throws `model-config` for what is no name of an archive */
export function checkArchiveName(flag: string, name: string): void {
  if (!NAME.test(name)) throw wrongFlag(flag, 'letters, digits, "_", "-" and "."', name);
}

/**
 * Writes a model archive that both TorchServe and TabServe read: `MAR-INF/MANIFEST.json` as torch-model-archiver writes
 * it, and `tabserve.json` with the SHA-256 of each file and the golden examples.
 * @throws `model-config` for a wrong flag; `invalid-input` for a wrong version; `model-not-found` for a missing file;
 *   `unsupported` for Python handlers and PyTorch weights; what the model throws, with `golden` and `check`. Then
 *   nothing is written
 */
export async function createArchive(flags: ArchiveFlags): Promise<CreatedArchive> {
  const name = required(flags, 'model-name');
  checkArchiveName('model-name', name);
  // A server would refuse it when the archive is registered.
  if (flags.version !== undefined) checkSegment('version', flags.version);
  const format = (flags['archive-format'] ?? 'default') as ArchiveFormat;
  if (!Object.hasOwn(ARCHIVE_FORMATS, format))
    throw wrongFlag('archive-format', `one of ${Object.keys(ARCHIVE_FORMATS).join(', ')}`, format);
  const path = join(flags['export-path'] ?? '.', `${name}${ARCHIVE_FORMATS[format]}`);
  await checkTarget(path, format, flags.force === true);
  const files: ArchiveFiles = new Map();
  const manifest = await collect(files, name, flags);
  const golden = flags.golden === undefined ? [] : await addGolden(files, manifest, flags.golden);
  await addExtras(files, manifest, pathsOf(golden, undefined));
  refuseLeftOut(files);
  let checked: string | undefined;
  await writeArchive(path, format, files, async (made) => {
    if (flags.check) checked = await checkArchive(made);
  });
  return { path, files: [...files].map(([one, { length }]) => [one, length]), checked, warnings: warningsOf(golden) };
}

/** Refuses files that are left out when an archive is read from a folder. @throws `model-format` */
function refuseLeftOut(files: ArchiveFiles): void {
  const hidden = [...files.keys()].find((path) => path.split('/').some((name) => LEFT_OUT.test(name)));
  if (hidden === undefined) return;
  throw new TabServeError(
    'model-format',
    `Rename ${hidden}: hidden files, and those that macOS and Windows add to folders, are no part of an archive.`,
  );
}

function warningsOf(golden: readonly GoldenExample[]): readonly string[] {
  const weak = golden.filter((example) => example.isWeak).map(({ node, path }) => folderOf(node) + path);
  if (weak.length === 0) return [];
  return [
    `${weak.join(', ')}: all outputs are zero, or the same number everywhere, within the tolerance. A backend that computes nothing would pass. Take an input to which the model has a clear answer.`,
  ];
}

/** Adds the files that the flags name, and the manifest. */
async function collect(files: ArchiveFiles, modelName: string, flags: ArchiveFlags): Promise<Manifest> {
  const { 'config-file': config, 'extra-files': extra } = flags;
  if (flags.handler !== undefined) await checkHandler(flags.handler);
  const serialized = required(flags, 'serialized-file');
  refuseUrl(serialized, '--serialized-file');
  const isFolder = (await stat(serialized).catch(() => undefined))?.isDirectory();
  const added = isFolder
    ? await addHuggingFace(files, serialized, { handler: flags.handler, config })
    : await addModel(files, serialized, flags);
  const beside = added.extensions?.split(',') ?? [];
  const own = new Set([...files.keys()].filter((path) => !beside.includes(path)));
  if (extra !== undefined) await addExtraFiles(files, extra);
  // A folder on a web server cannot be listed, so the manifest names what lies at its root.
  const extensions = [...files.keys()].filter(
    (path) => !own.has(path) && ![LABELS, EXTRAS].includes(path) && !path.includes('/'),
  );
  const unnameable = extensions.find((path) => path.includes(','));
  if (unnameable !== undefined)
    throw new TabServeError('model-format', `Rename ${unnameable}: in a manifest, commas separate the names of files.`);
  const manifest: Manifest = {
    createdOn: formatDate(new Date()),
    runtime: 'python',
    model: {
      modelName,
      ...added,
      modelVersion: flags.version ?? '1.0',
      ...(extensions.length > 0 && { extensions: extensions.join(',') }),
    },
    archiverVersion: VERSION,
  };
  addFile(files, MANIFEST, encode(manifest));
  return manifest;
}

/** Adds a model file, the files that it needs, and the config. */
async function addModel(
  files: ArchiveFiles,
  serialized: string,
  flags: ArchiveFlags,
): Promise<Omit<Manifest['model'], 'modelName'>> {
  const handler = required(flags, 'handler');
  const serializedFile = basename(serialized);
  if (!formatOf(serializedFile))
    throw new TabServeError(
      /\.pth?$/i.test(serializedFile) ? 'unsupported' : 'model-config',
      `--serialized-file: ${serializedFile} does not run in a browser; expected a name ending in .onnx, TensorFlow.js's model.json, or a folder of Hugging Face's layout. ` +
        'Export PyTorch weights with torch.onnx.export.',
    );
  const model = await readLocal(serialized, '--serialized-file');
  addFile(files, serializedFile, model);
  for (const beside of weightFiles(serializedFile, model))
    addFile(
      files,
      besideModel(serializedFile, beside),
      await readLocal(join(serialized, '..', beside), '--serialized-file'),
    );
  const config = flags['config-file'];
  if (config !== undefined) addFile(files, basename(config), await readLocal(config, '--config-file'));
  return { serializedFile, handler, ...(config !== undefined && { configFile: basename(config) }) };
}

/**
 * Returns the files that hold a model's weights, relative to the model: TensorFlow.js's shards, or ONNX external data.
 */
export function weightFiles(name: string, model: Uint8Array): readonly string[] {
  if (formatOf(name) === 'onnx') return readExternalData(model);
  return readWeightsManifest(new TextDecoder().decode(model), name).flatMap(({ paths }) => paths);
}

async function checkHandler(handler: string): Promise<void> {
  if ((HANDLER_NAMES as readonly string[]).includes(handler)) return;
  if (/\.py\b|:/.test(handler))
    throw new TabServeError(
      'unsupported',
      `--handler: ${handler} is Python, which does not run in a browser. Name the built-in handler that is nearest, and write the rest as a class in a worker of your own: docs/handlers.md.`,
    );
  await loadHandler(handler);
}

/** Runs the model on the examples, and adds its answers. */
async function addGolden(files: ArchiveFiles, manifest: Manifest, sources: string): Promise<readonly GoldenExample[]> {
  const archive: Archive = await readArchive(files);
  await using model = await openLocally(archive, enginesOf(archive)[0]!);
  const examples = await makeGoldenExamples(
    model,
    sources.split(',').map((one) => one.trim()),
  );
  for (const { node, path, bytes } of examples) addFile(files, folderOf(node) + path, bytes);
  for (const node of new Set(examples.map((one) => one.node)))
    if (node !== undefined) addFile(files, folderOf(node) + EXTRAS, encode({ golden: pathsOf(examples, node) }));
  return examples;
}

/** Returns the folder of a node: `addHuggingFace` gives each node a folder of its name. */
function folderOf(node: string | undefined): string {
  return node === undefined ? '' : `${node}/`;
}

function pathsOf(examples: readonly GoldenExample[], node: string | undefined): readonly string[] {
  return examples.filter((one) => one.node === node).map(({ path }) => path);
}

/**
 * Adds `tabserve.json`, and replaces one among the extra files. The hashes are of every other file but the manifest.
 */
async function addExtras(files: ArchiveFiles, { model }: Manifest, golden: readonly string[]): Promise<void> {
  const before = files.get(EXTRAS);
  files.delete(EXTRAS);
  const given = before ? readGiven(new TextDecoder().decode(before)) : {};
  const integrity: Record<string, Integrity> = {};
  for (const [path, bytes] of files) {
    if (path === MANIFEST) continue;
    integrity[path] = integrityOf(bytes);
  }
  const all = [...(given.golden ?? []), ...golden];
  const { configFile } = model;
  const parsedConfig = configFile === undefined ? undefined : await parseConfigFile(files.get(configFile)!, configFile);
  const extras = { ...given, ...(all.length > 0 && { golden: all }), files: integrity, parsedConfig };
  addFile(files, EXTRAS, encode(extras));
}

/** @throws `model-format` */
function readGiven(text: string): { readonly golden?: readonly string[] } {
  readExtras(text);
  return (JSON.parse(text) ?? {}) as { golden?: readonly string[] };
}

function required(flags: ArchiveFlags, flag: 'model-name' | 'serialized-file' | 'handler'): string {
  const value = flags[flag];
  if (value === undefined || value === '') throw new TabServeError('model-config', `--${flag} is missing.`);
  return value;
}

/** As torch-model-archiver writes it: `22/11/2026 04:45:00`, local time. */
/** Returns a time as TorchServe's archivers write it. */
export function formatDate(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${two(date.getDate())}/${two(date.getMonth() + 1)}/${date.getFullYear()}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Encodes a value as a JSON file. */
export function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
}

import type { Archive, Integrity, Manifest, ModelConfig } from '../../contract/archive.js';
import { MODEL_FORMATS, type ModelFormat } from '../../contract/backends.js';
import { shorten } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { MAX_EXAMPLES, MAX_FILES } from '../../contract/limits.js';
import { AGREEMENTS, PRECISIONS, type Agreement, type ModelFile } from '../../contract/precisions.js';
import { wrongValue } from '../../shared/read-options.js';
import { isRecord } from '../../shared/schema.js';
import type { ParsedConfig } from './config.js';
import { parseJson } from './json.js';
import { formatOf } from '../../shared/model-url.js';

export const MANIFEST = 'MAR-INF/MANIFEST.json';
/** What torch-workflow-archiver writes instead of the manifest of a model. */
export const WORKFLOW_MANIFEST = 'WAR-INF/MANIFEST.json';
/** The file for the settings of an archive that TorchServe's manifest has no key for. */
export const EXTRAS = 'tabserve.json';
/** TorchServe's name for the file with the labels. */
export const LABELS = 'index_to_name.json';

const TEXTS = ['createdOn', 'runtime', 'archiverVersion'] as const;
const MODEL_TEXTS = [
  'modelName',
  'modelVersion',
  'serializedFile',
  'handler',
  'modelFile',
  'requirementsFile',
  'configFile',
  'extensions',
] as const;

/** Reads a `MAR-INF/MANIFEST.json`. @throws `model-format` naming the key that is missing or is no string */
export function readManifest(text: string): Manifest {
  const manifest = parseJson(text, MANIFEST);
  if (!isRecord(manifest)) throw wrong(MANIFEST, 'the file', 'a mapping of keys to values', manifest);
  const { model } = manifest;
  if (!isRecord(model)) throw wrong(MANIFEST, 'model', 'a mapping with the key modelName', model);
  if (model['modelName'] === undefined)
    throw new TabServeError('model-format', `${MANIFEST} has no model.modelName; expected a string.`);
  const { extensions } = model;
  if (typeof extensions === 'string' && extensions.split(',').length > MAX_FILES)
    throw new TabServeError('model-format', `${MANIFEST}: model.extensions names more than ${MAX_FILES} files.`);
  return { ...texts(manifest, TEXTS, ''), model: texts(model, MODEL_TEXTS, 'model.') } as Manifest;
}

/** Returns the values as they are. `null` means the same as a missing key. */
function texts(values: Readonly<Record<string, unknown>>, keys: readonly string[], where: string): object {
  for (const key of keys) {
    const value = values[key] ?? undefined;
    if (value !== undefined && typeof value !== 'string') throw wrong(MANIFEST, `${where}${key}`, 'a string', value);
  }
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

/** What `tabserve.json` says, checked. */
export interface Extras {
  /** The model's path by engine; undefined where the file names none. */
  readonly models: Archive['models'] | undefined;
  /** By engine: what overrides the archive's config, and the golden examples to use instead of the archive's. */
  readonly overrides: Readonly<Partial<Record<ModelFormat, Override>>>;
  /** The files of models that are there in several precisions; the others have none here. */
  readonly alternatives: readonly ModelFile[];
  readonly golden: readonly string[];
  readonly integrity: Readonly<Record<string, Integrity>>;
  readonly parsedConfig: ParsedConfig | undefined;
}

export interface Override {
  readonly config?: ModelConfig;
  readonly golden?: readonly string[];
  readonly agreement?: Agreement;
}

/** Reads a `tabserve.json`. @throws `model-format` naming the key that is wrong */
export function readExtras(text: string): Extras {
  const extras = parseJson(text, EXTRAS) ?? {};
  if (!isRecord(extras)) throw wrong(EXTRAS, 'the file', 'a mapping of keys to values', extras);
  const models: Partial<Record<ModelFormat, string>> = {};
  const overrides: Partial<Record<ModelFormat, Override>> = {};
  const alternatives: ModelFile[] = [];
  for (const [engine, entry] of modelEntries(extras['models'])) {
    const { path, override, others } = readModel(engine, entry);
    models[engine] = path;
    if (others.length > 0) alternatives.push({ path, precision: 'fp32' }, ...others);
    if (override) overrides[engine] = override;
  }
  const golden = extras['golden'] === undefined ? [] : readPaths(extras['golden'], 'golden');
  return {
    models: extras['models'] === undefined ? undefined : models,
    overrides,
    alternatives,
    golden,
    integrity: readFiles(extras['files'] ?? {}),
    parsedConfig: extras['parsedConfig'] === undefined ? undefined : readParsedConfig(extras['parsedConfig']),
  };
}

function readParsedConfig(value: unknown): ParsedConfig {
  if (isRecord(value) && isHash(value['sha256']) && isRecord(value['config'])) return value as unknown as ParsedConfig;
  throw wrong(EXTRAS, 'parsedConfig', '{ sha256, config }', value);
}

function modelEntries(models: unknown): readonly (readonly [ModelFormat, unknown])[] {
  if (models === undefined) return [];
  const entries = isRecord(models) ? Object.entries(models) : [];
  if (entries.length === 0) throw wrong(EXTRAS, 'models', `a mapping that names a file for ${ENGINE_NAMES}`, models);
  for (const [engine] of entries) {
    if (!(MODEL_FORMATS as readonly string[]).includes(engine))
      throw new TabServeError('model-format', `${EXTRAS}: models.${engine} is no engine; expected ${ENGINE_NAMES}.`);
  }
  return entries as [ModelFormat, unknown][];
}

const ENGINE_NAMES = MODEL_FORMATS.join(' or ');

interface ModelEntry {
  readonly path: string;
  readonly override: Override | undefined;
  /** The model in other precisions. */
  readonly others: readonly ModelFile[];
}

/** Reads a path, or `{ file, config, golden, agreement, precisions }`. */
function readModel(engine: ModelFormat, entry: unknown): ModelEntry {
  const where = `models.${engine}`;
  if (!isRecord(entry)) return { path: readModelPath(engine, entry, where), override: undefined, others: [] };
  const { file, config, golden, agreement, precisions } = entry;
  const path = readModelPath(engine, file, `${where}.file`);
  const others = precisions === undefined ? [] : readPrecisions(engine, precisions, `${where}.precisions`);
  // A client recognizes by its file which precision has failed.
  if (new Set([path, ...others.map((one) => one.path)]).size <= others.length)
    throw wrong(
      EXTRAS,
      `${where}.precisions`,
      'another file for each precision than that of the model and the others',
      precisions,
    );
  if (config !== undefined) checkOverride(config, `${where}.config`);
  return {
    path,
    override: {
      ...(config !== undefined && { config: config as ModelConfig }),
      ...(golden !== undefined && { golden: readPaths(golden, `${where}.golden`) }),
      ...(agreement !== undefined && { agreement: readAgreement(agreement, `${where}.agreement`) }),
    },
    others,
  };
}

function readModelPath(engine: ModelFormat, path: unknown, where: string): string {
  if (typeof path === 'string' && formatOf(path) === engine) return path;
  throw wrong(EXTRAS, where, `the path of a file ending in ${engine === 'onnx' ? '.onnx' : '.json'}`, path);
}

/** The model's file is in full precision. */
const OTHER_PRECISIONS = PRECISIONS.filter((one) => one !== 'fp32');

/** Reads, for each precision, a path, or `{ file, agreement }`. */
function readPrecisions(engine: ModelFormat, entries: unknown, where: string): readonly ModelFile[] {
  if (!isRecord(entries)) throw wrong(EXTRAS, where, 'a mapping of precisions to files', entries);
  return Object.entries(entries).map(([name, entry]) => {
    const precision = OTHER_PRECISIONS.find((one) => one === name);
    if (!precision)
      throw new TabServeError(
        'model-format',
        `${EXTRAS}: ${where}.${shorten(name)} is no precision; expected ${OTHER_PRECISIONS.join(', ')}. The model's own file is fp32.`,
      );
    const { file, agreement } = isRecord(entry) ? entry : { file: entry, agreement: undefined };
    const path = readModelPath(engine, file, `${where}.${precision}`);
    return {
      path,
      precision,
      ...(agreement !== undefined && { agreement: readAgreement(agreement, `${where}.${precision}.agreement`) }),
    };
  });
}

function readAgreement(value: unknown, where: string): Agreement {
  const agreement = AGREEMENTS.find((one) => one === value);
  if (agreement) return agreement;
  throw wrong(EXTRAS, where, AGREEMENTS.map((one) => `"${one}"`).join(' or '), value);
}

/** Serving is the same for each engine; only these sections may differ. */
const SECTIONS = ['handler', 'engine'];

function checkOverride(config: unknown, where: string): void {
  const fits =
    isRecord(config) && Object.entries(config).every(([key, value]) => SECTIONS.includes(key) && isRecord(value));
  if (!fits) throw wrong(EXTRAS, where, `a mapping with ${SECTIONS.join(' and ')}, each a mapping`, config);
}

function readPaths(value: unknown, where: string): readonly string[] {
  if (!Array.isArray(value) || !value.every((path) => typeof path === 'string'))
    throw wrong(EXTRAS, where, 'a list of paths', value);
  if (value.length > MAX_EXAMPLES)
    throw new TabServeError(
      'model-format',
      `${EXTRAS}: ${where} names ${value.length} golden examples; a model may have ${MAX_EXAMPLES}.`,
    );
  return value as string[];
}

function readFiles(files: unknown): Readonly<Record<string, Integrity>> {
  if (!isRecord(files)) throw wrong(EXTRAS, 'files', 'a mapping of paths to { bytes, sha256 }', files);
  const entries = Object.entries(files);
  if (entries.length > MAX_FILES)
    throw new TabServeError(
      'model-format',
      `${EXTRAS}: files has ${entries.length} entries; an archive may have ${MAX_FILES} files.`,
    );
  for (const [path, value] of entries) {
    if (!isIntegrity(value)) throw wrong(EXTRAS, `files["${path}"]`, '{ bytes, sha256 }', value);
  }
  return files as Record<string, Integrity>;
}

function isIntegrity(value: unknown): value is Integrity {
  if (!isRecord(value)) return false;
  const { bytes, sha256 } = value;
  return (bytes === undefined || (typeof bytes === 'number' && bytes >= 0)) && (sha256 === undefined || isHash(sha256));
}

function isHash(value: unknown): boolean {
  return typeof value === 'string' && /^[\da-f]{64}$/i.test(value);
}

function wrong(file: string, where: string, expected: string, value: unknown): TabServeError {
  return wrongValue(`${file}: ${where}`, expected, value, 'model-format');
}

/** Returns what an archive's manifest and its `tabserve.json` say of it: everything but the config. */
export function outlineOf(url: string, manifest: Manifest, extras: Extras): Archive {
  const { golden, integrity, alternatives } = extras;
  return {
    url,
    manifest,
    config: {},
    models: extras.models ?? modelOf(manifest),
    files: {},
    golden,
    integrity,
    ...(alternatives.length > 0 && { alternatives }),
  };
}

/**
 * Returns the manifest's own model, where `tabserve.json` names none. A workflow has none; a server's model may be in a
 * format that only the server runs.
 */
function modelOf({ model: { serializedFile } }: Manifest): Archive['models'] {
  const format = serializedFile === undefined ? undefined : formatOf(serializedFile);
  return format ? { [format]: serializedFile } : {};
}

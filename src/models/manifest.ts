import type { Archive, Integrity, Manifest, ModelConfig } from '../contract/archive.js';
import { MODEL_FORMATS, type ModelFormat } from '../contract/backends.js';
import { describeValue } from '../contract/describe-value.js';
import { TabServeError } from '../contract/errors.js';
import { MOST_EXAMPLES, MOST_FILES } from '../contract/limits.js';
import { formatOf } from '../shared/model-url.js';
import { isRecord } from '../shared/schema.js';
import { parseJson } from './json.js';

export const MANIFEST = 'MAR-INF/MANIFEST.json';
/** The file in which an archive says what TorchServe's manifest has no place for. */
export const EXTRAS = 'tabserve.json';

const TEXTS = ['createdOn', 'runtime', 'archiverVersion'] as const;
const MODEL_TEXTS = [
  'modelName', 'modelVersion', 'serializedFile', 'handler', 'modelFile', 'requirementsFile', 'configFile', 'extensions',
] as const; // prettier-ignore

/** Reads a `MAR-INF/MANIFEST.json`. @throws `model-format` naming the key that is missing or is no string */
export function readManifest(text: string): Manifest {
  const manifest = parseJson(text, MANIFEST);
  if (!isRecord(manifest)) throw wrong(MANIFEST, 'the file', 'a mapping of keys to values', manifest);
  const { model } = manifest;
  if (!isRecord(model)) throw wrong(MANIFEST, 'model', 'a mapping with the key modelName', model);
  if (model['modelName'] === undefined)
    throw new TabServeError('model-format', `${MANIFEST} has no model.modelName; expected a string.`);
  const { extensions } = model;
  if (typeof extensions === 'string' && extensions.split(',').length > MOST_FILES)
    throw new TabServeError('model-format', `${MANIFEST}: model.extensions names more than ${MOST_FILES} files.`);
  return { ...texts(manifest, TEXTS, ''), model: texts(model, MODEL_TEXTS, 'model.') } as Manifest;
}

/** The values as they are; `null` means the same as a missing key. */
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
  /** By engine: what is taken over the archive's config, and the golden examples to use in place of the archive's. */
  readonly overrides: Readonly<Partial<Record<ModelFormat, Override>>>;
  readonly golden: readonly string[];
  readonly integrity: Readonly<Record<string, Integrity>>;
}

export interface Override {
  readonly config?: ModelConfig;
  readonly golden?: readonly string[];
}

/** Reads a `tabserve.json`. @throws `model-format` naming the key that is wrong */
export function readExtras(text: string): Extras {
  const extras = parseJson(text, EXTRAS) ?? {};
  if (!isRecord(extras)) throw wrong(EXTRAS, 'the file', 'a mapping of keys to values', extras);
  const models: Partial<Record<ModelFormat, string>> = {};
  const overrides: Partial<Record<ModelFormat, Override>> = {};
  for (const [engine, entry] of modelEntries(extras['models'])) {
    const { path, override } = readModel(engine, entry);
    models[engine] = path;
    if (override) overrides[engine] = override;
  }
  const golden = extras['golden'] === undefined ? [] : readPaths(extras['golden'], 'golden');
  return {
    models: extras['models'] === undefined ? undefined : models,
    overrides,
    golden,
    integrity: readFiles(extras['files'] ?? {}),
  };
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

/** A path, or `{ file, config, golden }`. */
function readModel(engine: ModelFormat, entry: unknown): { path: string; override: Override | undefined } {
  const where = `models.${engine}`;
  const {
    file: path,
    config,
    golden,
  } = isRecord(entry) ? entry : { file: entry, config: undefined, golden: undefined };
  if (typeof path !== 'string' || formatOf(path) !== engine) {
    const ending = engine === 'onnx' ? '.onnx' : '.json';
    throw wrong(EXTRAS, isRecord(entry) ? `${where}.file` : where, `the path of a file ending in ${ending}`, path);
  }
  if (!isRecord(entry)) return { path, override: undefined };
  if (config !== undefined) checkOverride(config, `${where}.config`);
  return {
    path,
    override: {
      ...(config !== undefined && { config: config as ModelConfig }),
      ...(golden !== undefined && { golden: readPaths(golden, `${where}.golden`) }),
    },
  };
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
  if (value.length > MOST_EXAMPLES)
    throw new TabServeError(
      'model-format',
      `${EXTRAS}: ${where} names ${value.length} golden examples; a model may have ${MOST_EXAMPLES}.`,
    );
  return value as string[];
}

function readFiles(files: unknown): Readonly<Record<string, Integrity>> {
  if (!isRecord(files)) throw wrong(EXTRAS, 'files', 'a mapping of paths to { bytes, sha256 }', files);
  const entries = Object.entries(files);
  if (entries.length > MOST_FILES)
    throw new TabServeError(
      'model-format',
      `${EXTRAS}: files has ${entries.length} entries; an archive may have ${MOST_FILES} files.`,
    );
  for (const [path, value] of entries) {
    if (!isIntegrity(value)) throw wrong(EXTRAS, `files["${path}"]`, '{ bytes, sha256 }', value);
  }
  return files as Record<string, Integrity>;
}

function isIntegrity(value: unknown): value is Integrity {
  if (!isRecord(value)) return false;
  const { bytes, sha256 } = value;
  return (
    (bytes === undefined || (typeof bytes === 'number' && bytes >= 0)) &&
    (sha256 === undefined || (typeof sha256 === 'string' && /^[\da-f]{64}$/i.test(sha256)))
  );
}

function wrong(file: string, where: string, expected: string, value: unknown): TabServeError {
  const found = value === undefined ? 'nothing' : describeValue(value);
  return new TabServeError('model-format', `${file}: ${where} must be ${expected}, got ${found}.`);
}

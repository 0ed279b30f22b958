import type { Archive, ModelConfig } from '../../contract/archive.js';
import type { ModelFormat } from '../../contract/backends.js';
import { TabServeError } from '../../contract/errors.js';
import { PRECISIONS, type ModelFile, type Precision } from '../../contract/precisions.js';
import { loadScript } from '../../shared/load-script.js';
import { grouping, sortFiles } from '../../shared/model-files.js';
import { formatOf } from '../../shared/model-url.js';
import type { Source } from './sources/source.js';

/** The precisions that are looked for by default. Full precision comes first, because every backend runs it. */
const USUAL: readonly Precision[] = ['fp32', 'float16-weights', 'int8-weights', 'fp16', 'q8'];

/** Returns the precisions that a model may be loaded in: the chosen one, or the usual ones. */
export function possiblePrecisions(config: ModelConfig): readonly Precision[] {
  const chosen = config.engine?.dtype as Precision | undefined;
  return chosen === undefined ? USUAL : [chosen];
}

/**
 * Chooses the file of an archive's model in one format, if there are alternatives: the first that exists; folder by
 * folder where each precision may be in several, because a model's files are in one of these folders. Files on a server
 * are requested one after the other. The answer's alternatives are without those that do not exist.
 * @param precisions best first; by default, full precision first
 * @throws `model-not-found` if the model is there in none of the possible precisions; `backend-failed` if only these
 *   precisions are missing
 */
export async function chooseModel(
  source: Source,
  archive: Archive,
  format: ModelFormat,
  precisions: readonly Precision[] | undefined,
): Promise<Archive> {
  const { files, manifest, config } = archive;
  const isOfFormat = ({ path }: ModelFile): boolean => formatOf(path) === format;
  const alternatives = archive.alternatives?.filter(isOfFormat) ?? [];
  if (alternatives.length === 0) return archive;
  const possible = possiblePrecisions(config);
  const groupOf = grouping(alternatives);
  const wanted = sortFiles(alternatives, precisions ?? possible);
  const missing = new Set<ModelFile>();
  for (const file of wanted) {
    const { path } = file;
    if (Object.hasOwn(files, path) || (await source.has(path)))
      return {
        ...archive,
        manifest: { ...manifest, model: { ...manifest.model, serializedFile: path } },
        models: { ...archive.models, [format]: path },
        alternatives: archive.alternatives!.filter(
          (one) => !isOfFormat(one) || (!missing.has(one) && groupOf(one) === groupOf(file)),
        ),
      };
    missing.add(file);
  }
  const there = possible.filter((one) => alternatives.some(({ precision }) => precision === one));
  const isComplete = there.every((one) => (precisions ?? possible).includes(one));
  if (isComplete) {
    const error = missingModel(source, wanted);
    if (config.engine?.dtype !== undefined) throw error;
    const withParts = await loadScript(async () => (await import('./hugging-face/parts.js')).withParts);
    throw await withParts(error, source);
  }
  throw new TabServeError(
    'backend-failed',
    `${source.url} has none of ${listPaths(wanted)}, which are the precisions for this backend. Another one can be chosen with engine.dtype.`,
  );
}

/**
 * Returns the error for an archive without the model's file.
 * @param files those that were looked for
 * @param others the model in other precisions
 */
export function missingModel(
  { url, paths }: Source,
  files: readonly Pick<ModelFile, 'path'>[],
  others: readonly ModelFile[] = [],
): TabServeError {
  const has = paths
    ? `It has ${paths.filter((path) => path.endsWith('.onnx')).join(', ') || 'no .onnx file'}.`
    : 'If it has no ONNX model, export one with Optimum.';
  const precisions = [...new Set(others.map(({ precision }) => precision))];
  const advice =
    precisions.length > 0
      ? `The model is there in another precision: set engine.dtype to ${precisions.join(' or ')}.`
      : `If the model is there in another precision, set engine.dtype: ${PRECISIONS.join(', ')}.`;
  return new TabServeError('model-not-found', `${url} has none of ${listPaths(files)}. ${has} ${advice}`);
}

function listPaths(files: readonly Pick<ModelFile, 'path'>[]): string {
  return files.map(({ path }) => path).join(', ');
}

import type { Archive, ModelConfig } from '../contract/archive.js';
import { TabServeError } from '../contract/errors.js';
import { PRECISIONS, type ModelFile, type Precision } from '../contract/precisions.js';
import type { Source } from './sources/source.js';

/** What is looked for if nobody has chosen. Full precision comes first, because every backend runs it. */
const USUAL: readonly Precision[] = ['fp32', 'fp16', 'q8'];

/** Returns the precisions that a model may be loaded in: the chosen one, or the usual ones. */
export function possiblePrecisions({ engine }: ModelConfig): readonly Precision[] {
  return engine?.dtype === undefined ? USUAL : [engine.dtype];
}

/**
 * Chooses the file of an archive's ONNX model, if there are alternatives: the first that exists, folder by folder, because a model's files are in one
 * folder. Those on a server are asked for one after the other. The answer's alternatives are without those that do not exist.
 * @param precisions best first; by default, full precision first
 * @throws `model-not-found` if the model is there in none of the possible precisions; `backend-failed` if only these precisions are missing
 */
export async function chooseModel(
  source: Source,
  archive: Archive,
  precisions: readonly Precision[] | undefined,
): Promise<Archive> {
  const { alternatives, files, manifest, config } = archive;
  if (!alternatives) return archive;
  const possible = possiblePrecisions(config);
  const wanted = sortFiles(alternatives, precisions ?? possible);
  const missing = new Set<ModelFile>();
  for (const file of wanted) {
    const { path } = file;
    if (Object.hasOwn(files, path) || (await source.has(path)))
      return {
        ...archive,
        manifest: { ...manifest, model: { ...manifest.model, serializedFile: path } },
        models: { ...archive.models, onnx: path },
        alternatives: alternatives.filter((one) => !missing.has(one) && folderOf(one) === folderOf(file)),
      };
    missing.add(file);
  }
  const isComplete = possible.every((one) => (precisions ?? possible).includes(one));
  if (isComplete) throw missingModel(source, wanted);
  throw new TabServeError(
    'backend-failed',
    `${source.url} has none of ${listPaths(wanted)}, which are the precisions for this backend. Another one can be chosen with engine.dtype.`,
  );
}

/** Returns the error for an archive without the model's file. @param files the files that were looked for */
export function missingModel({ url, paths }: Source, files: readonly ModelFile[]): TabServeError {
  const advice = paths
    ? `It has ${paths.filter((path) => path.endsWith('.onnx')).join(', ') || 'no .onnx file'}.`
    : 'If it has no ONNX model, export one with Optimum.';
  return new TabServeError(
    'model-not-found',
    `${url} has none of ${listPaths(files)}. ${advice} If the model is there in another precision, set engine.dtype: ${PRECISIONS.join(', ')}.`,
  );
}

/** Returns the files of these precisions, folder by folder, the best precision first. */
export function sortFiles(files: readonly ModelFile[], precisions: readonly Precision[]): readonly ModelFile[] {
  const folders = [...new Set(files.map(folderOf))];
  return folders.flatMap((folder) =>
    precisions.flatMap((precision) => files.filter((one) => one.precision === precision && folderOf(one) === folder)),
  );
}

function folderOf({ path }: ModelFile): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

function listPaths(files: readonly ModelFile[]): string {
  return files.map(({ path }) => path).join(', ');
}

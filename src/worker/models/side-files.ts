import type { Archive } from '../../contract/archive.js';
import { archiveFor } from '../../contract/archive-parts.js';
import { MODEL_FORMATS, type EngineName, type ModelFormat } from '../../contract/backends.js';
import { expectedOf, type Source } from './sources/source.js';

/**
 * Returns the paths of an archive's other files: the golden examples, and TorchServe's extra files, which lie at the
 * archive's root whatever folder the manifest names.
 */
export function sideFiles(archive: Archive, engine?: EngineName): readonly string[] {
  const { manifest, golden } = engine ? archiveFor(archive, engine) : archive;
  const extensions = (manifest.model.extensions ?? '').split(',').flatMap((path) => path.trim().split('/').pop() || []);
  return [...new Set([...golden, ...extensions])];
}

/**
 * Begins to read the files that do not depend on a choice any more. `fetchModel` reads all of them, and reports their
 * failures.
 * @param format the model's, if it is chosen; that of an archive's only model is
 */
export function beginFiles(source: Pick<Source, 'begin'>, archive: Archive, format = onlyFormat(archive)): void {
  const model = format && archive.models[format];
  const isUndecided = archive.alternatives !== undefined || archive.config.engine?.remote !== undefined;
  const paths = model === undefined || isUndecided ? sideFiles(archive) : [...sideFiles(archive, format), model];
  const wanted = paths.filter((path) => !Object.hasOwn(archive.files, path));
  for (const path of wanted) source.begin?.(path, expectedOf(path, archive.integrity));
}

function onlyFormat({ models }: Archive): ModelFormat | undefined {
  const [format, ...others] = MODEL_FORMATS.filter((one) => models[one] !== undefined);
  return others.length > 0 ? undefined : format;
}

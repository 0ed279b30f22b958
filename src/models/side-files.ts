import { archiveFor, type Archive } from '../contract/archive.js';
import { MODEL_FORMATS, type EngineName } from '../contract/backends.js';
import { expectedOf, type Source } from './sources/source.js';

/**
 * Returns the paths of what an archive has beside the model: the golden examples, and TorchServe's extra files, which lie at the archive's root
 * whatever folder the manifest names.
 */
export function sideFiles(archive: Archive, engine?: EngineName): readonly string[] {
  const { manifest, golden } = engine ? archiveFor(archive, engine) : archive;
  const extensions = (manifest.model.extensions ?? '').split(',').flatMap((path) => path.trim().split('/').pop() || []);
  return [...new Set([...golden, ...extensions])];
}

/** Begins to read the files for which no engine need be chosen. `fetchModel` reads all of them, and reports their failures. */
export function beginFiles(source: Source, archive: Archive): void {
  const [engine, ...others] = MODEL_FORMATS.filter((one) => archive.models[one] !== undefined);
  const isUndecided =
    others.length > 0 || archive.alternatives !== undefined || archive.config.engine?.remote !== undefined;
  const paths = isUndecided
    ? sideFiles(archive)
    : [...sideFiles(archive, engine), ...(engine ? [archive.models[engine]!] : [])];
  for (const path of paths) source.begin?.(path, expectedOf(path, archive.integrity));
}

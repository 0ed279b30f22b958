/** A model file with what lies beside it, without the other files of a repository. */
import type { Archive } from '../../../contract/archive.js';
import { MAX_METADATA_BYTES, MAX_TEXT_BYTES } from '../../../contract/limits.js';
import type { Source } from '../sources/source.js';
import { TOKENIZER, TOKENIZER_CONFIG } from './inputs.js';

/**
 * Returns the archive of a model file with the tokenizer that lies beside it: `tokenizer.json` or, as langchain4j names
 * it, `NAME-tokenizer.json`. Without one, returns the archive as it is.
 */
export async function withTokenizer(source: Source, archive: Archive): Promise<Archive> {
  const { manifest } = archive;
  const read = (path: string): Promise<Blob | undefined> => source.read(path, undefined, MAX_TEXT_BYTES);
  const [own, settings] = await Promise.all([read(TOKENIZER), read(TOKENIZER_CONFIG)]);
  const tokenizer = own ?? (await read(`${manifest.model.modelName}-${TOKENIZER}`));
  if (!tokenizer) return archive;
  const files = { [TOKENIZER]: tokenizer, ...(settings && { [TOKENIZER_CONFIG]: settings }) };
  const extensions = Object.keys(files).join(',');
  return { ...archive, manifest: { ...manifest, model: { ...manifest.model, extensions } }, files };
}

/**
 * Returns the archive of a model's file with those that lie beside it under its name.
 * @param endings what their names end with, after the name of the model's file
 */
export async function withFilesBeside(source: Source, archive: Archive, endings: readonly string[]): Promise<Archive> {
  const { manifest } = archive;
  const paths = endings.map((ending) => manifest.model.serializedFile! + ending);
  const found = await Promise.all(
    paths.map(async (path) => [path, await source.read(path, undefined, MAX_METADATA_BYTES)] as const),
  );
  const files = Object.fromEntries(found.filter((one): one is [string, Blob] => one[1] !== undefined));
  const extensions = Object.keys(files).join(',');
  return {
    ...archive,
    manifest: { ...manifest, model: { ...manifest.model, ...(extensions && { extensions }) } },
    files,
  };
}

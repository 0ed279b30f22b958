import type { Integrity } from '../../../contract/archive.js';
import type { Agreement } from '../../../contract/precisions.js';
import { EXTRAS, MANIFEST } from '../../../worker/models/manifest.js';
import { integrityOf, type ArchiveFiles } from '../archive-files.js';
import { encode } from '../archive.js';
import type { SmallerPart } from './shrink-part.js';
import type { SmallWeights } from './small-weights.js';

export interface ChangeOptions {
  readonly weights: SmallWeights;
  /** Whether the models stay beside the new ones. */
  readonly keep: boolean;
  readonly agreement: Agreement | undefined;
}

/** What a `tabserve.json` says of a model: its path, or more. */
type ModelEntry =
  | string
  | { readonly file: string; readonly precisions?: Readonly<Record<string, unknown>>; readonly agreement?: Agreement };

interface ExtrasJson {
  readonly models?: Readonly<Record<string, ModelEntry>>;
  readonly files?: Readonly<Record<string, Integrity>>;
}

interface ManifestJson {
  readonly model: { readonly serializedFile?: string; readonly extensions?: string };
}

/**
 * Returns the files of an archive with the new models, instead of the old ones or in addition to them. Manifests,
 * `tabserve.json` and hashes are changed accordingly.
 */
export function change(files: ArchiveFiles, parts: readonly SmallerPart[], options: ChangeOptions): ArchiveFiles {
  const changed: ArchiveFiles = new Map(files);
  for (const part of parts) {
    // An archive may name the same file in two nodes.
    if (!options.keep) for (const path of [...part.before.keys(), ...part.alternatives]) changed.delete(path);
    for (const [path, bytes] of part.after) changed.set(path, bytes);
  }
  for (const root of new Set(parts.map((part) => part.root))) {
    const own = parts.filter((part) => part.root === root);
    if (!options.keep) edit<ManifestJson>(changed, root + MANIFEST, (manifest) => renameIn(manifest, own));
    edit<ExtrasJson>(changed, root + EXTRAS, (extras) => withModels(extras, own, options));
  }
  // A folder's hashes may be in the tabserve.json of the workflow, too: the one further up comes last.
  const lists = [...changed.keys()].filter((path) => path === EXTRAS || path.endsWith(`/${EXTRAS}`));
  for (const path of lists.sort((a, b) => b.length - a.length))
    edit<ExtrasJson>(changed, path, (extras) =>
      withHashes(extras, path.slice(0, -EXTRAS.length), { files, changed, parts }),
    );
  return changed;
}

function edit<T>(files: ArchiveFiles, path: string, by: (json: T) => T): void {
  const bytes = files.get(path);
  if (bytes) files.set(path, encode(by(JSON.parse(new TextDecoder().decode(bytes)) as T)));
}

/** Names the new model and the files with its weights in a manifest. */
function renameIn(manifest: ManifestJson, parts: readonly SmallerPart[]): ManifestJson {
  let { serializedFile, extensions } = manifest.model;
  for (const { root, before, after } of parts) {
    const [old, names] = [before, after].map((files) => [...files.keys()].map((path) => path.slice(root.length)));
    if (serializedFile === old![0]) serializedFile = names![0]!;
    const listed = extensions?.split(',') ?? [];
    if (listed.some((name) => old!.includes(name)))
      extensions = [...listed.filter((name) => !old!.includes(name)), ...names!].join(',');
  }
  const model = { ...manifest.model, ...(serializedFile && { serializedFile }), ...(extensions && { extensions }) };
  return { ...manifest, model };
}

function withModels(extras: ExtrasJson, parts: readonly SmallerPart[], options: ChangeOptions): ExtrasJson {
  const { weights, keep, agreement } = options;
  const models = { ...extras.models };
  for (const { root, format, before, after } of parts) {
    const [from, file] = [before, after].map((files) => [...files.keys()][0]!.slice(root.length)) as [string, string];
    const entry = models[format] ?? from;
    const { precisions, agreement: _, ...own } = typeof entry === 'string' ? { file: entry } : entry;
    const how = agreement === undefined ? file : { file, agreement };
    if (keep) models[format] = { ...own, precisions: { ...precisions, [`${weights}-weights`]: how } };
    else if (agreement !== undefined || Object.keys(own).length > 1)
      models[format] = { ...own, file, ...(agreement && { agreement }) };
    else models[format] = file;
  }
  return { ...extras, models };
}

interface Change {
  readonly files: ArchiveFiles;
  readonly changed: ArchiveFiles;
  readonly parts: readonly SmallerPart[];
}

/** Brings the sizes and hashes of a `tabserve.json` up to date. @param folder where it lies */
function withHashes(extras: ExtrasJson, folder: string, { files, changed, parts }: Change): ExtrasJson {
  if (!extras.files) return extras;
  const listed = Object.keys(extras.files).map((path) => folder + path);
  const added = parts
    .filter(({ root, before }) => root === folder || [...before.keys()].some((path) => listed.includes(path)))
    .flatMap(({ after }) => [...after.keys()]);
  const hashes: Record<string, Integrity> = {};
  for (const path of new Set([...listed, ...added])) {
    const [before, bytes] = [files.get(path), changed.get(path)];
    if (bytes !== before && bytes) hashes[path.slice(folder.length)] = integrityOf(bytes);
    else if (bytes === before) hashes[path.slice(folder.length)] = extras.files[path.slice(folder.length)]!;
  }
  return { ...extras, files: hashes };
}

import type { Archive, ArchiveVariant, Manifest, ModelConfig } from '../../contract/archive.js';
import { shorten } from '../../contract/describe-value.js';
import type { ModelFormat } from '../../contract/backends.js';
import { TabServeError } from '../../contract/errors.js';
import { MAX_LABELS_BYTES, MAX_METADATA_BYTES } from '../../contract/limits.js';
import type { ArchiveOptions } from './archive.js';
import { beginYaml, mergeConfig, readConfig } from './config.js';
import { EarlierVisit } from './earlier-visit.js';
import { readText } from './json.js';
import { EXTRAS, type Extras, LABELS, MANIFEST, outlineOf, readExtras, readManifest } from './manifest.js';
import { beginFiles } from './side-files.js';
import { knownOf, readRequired, type Source } from './sources/source.js';

/**
 * Reads TorchServe's layout: `MAR-INF/MANIFEST.json`, its config file, the labels, and `tabserve.json` with the
 * settings that TorchServe's manifest has no key for. Begins to read the other files, as far as the engine does not
 * matter.
 * @param config overrides the archive's own
 * @param onManifest see `ArchiveOptions`
 * @returns undefined if there is no manifest
 * @throws `model-not-found`, `model-format`, `model-config`, `network`, `aborted`
 */
export async function readTorchServe(
  source: Source,
  config: ModelConfig,
  onManifest?: ArchiveOptions['onManifest'],
): Promise<Archive | undefined> {
  // Not for nodes, which may share an archive without knowing of each other's reads.
  const earlier = onManifest && new EarlierVisit(source, config, (found) => onManifest(found, false));
  const read = (file: typeof MANIFEST | typeof EXTRAS): Promise<Blob | undefined> =>
    source.read(file, undefined, MAX_METADATA_BYTES, earlier && ((copy) => earlier.take(file, copy)));
  const [found, others] = await Promise.all([read(MANIFEST), read(EXTRAS)]).catch((error: unknown) => {
    earlier?.drop();
    throw error;
  });
  const known = await earlier?.settle({ [MANIFEST]: found, [EXTRAS]: others });
  if (!found) return undefined;
  const extras = known?.extras ?? readExtras(others ? await readText(others, EXTRAS, MAX_METADATA_BYTES) : '{}');
  const { integrity } = extras;
  // The manifest's own size and hash are known only now.
  const manifestFile = Object.hasOwn(integrity, MANIFEST)
    ? await readRequired(source, MANIFEST, integrity, MAX_METADATA_BYTES)
    : found;
  const manifest =
    known && manifestFile === found
      ? known.manifest
      : readManifest(await readText(manifestFile, MANIFEST, MAX_METADATA_BYTES));
  const archive = outlineOf(source.url, manifest, extras);
  const { models } = archive;
  const begin = (format?: ModelFormat): void => beginFiles(source, { ...archive, config }, format);
  begin();
  const files: Record<string, Blob> = {};
  const { configFile } = manifest.model;
  onManifest?.({ manifest, models, begin }, true);
  if (configFile && !extras.parsedConfig) beginYaml();
  const labels = source
    .read(LABELS, knownOf(LABELS, integrity), MAX_LABELS_BYTES)
    .then((blob) => blob && (files[LABELS] = blob));
  // Awaited below; if the config fails first, a failure of the labels must not stay unhandled.
  labels.catch(() => {});
  if (configFile) files[configFile] = await readRequired(source, configFile, integrity, MAX_METADATA_BYTES);
  await labels;
  const own = configFile ? await readConfig(files[configFile]!, configFile, extras.parsedConfig) : {};
  const whole = { ...archive, ...readVariants(extras, own, config), config: mergeConfig(own, config), files };
  const isElsewhere = isWorkflowOnly(whole) || whole.config.engine?.remote !== undefined;
  if (Object.keys(models).length === 0 && !isElsewhere) throw noModel(manifest, source);
  return whole;
}

/** Returns whether an archive has no model of its own: it is a workflow, whose nodes have the models. */
export function isWorkflowOnly({ models, config, nodes }: Pick<Archive, 'models' | 'config' | 'nodes'>): boolean {
  return Object.keys(models).length === 0 && (nodes ?? config.nodes) !== undefined;
}

function readVariants({ overrides }: Extras, own: ModelConfig, over: ModelConfig): Pick<Archive, 'variants'> {
  const variants = Object.entries(overrides).map(([engine, { config, ...others }]): [string, ArchiveVariant] => [
    engine,
    { ...others, ...(config && { config: mergeConfig(mergeConfig(own, config), over) }) },
  ]);
  return variants.length > 0 ? { variants: Object.fromEntries(variants) } : {};
}

function noModel({ model: { serializedFile } }: Manifest, { url }: Source): TabServeError {
  const found = serializedFile ? `"${shorten(serializedFile)}"` : 'no serializedFile';
  const advice = /\.(pt|pth|so|bin|safetensors)$/i.test(serializedFile ?? '')
    ? ' PyTorch does not run in a browser: export the model with torch.onnx.export, and pass the .onnx as --serialized-file to torch-model-archiver. Or name it in tabserve.json, under models.onnx.'
    : '';
  return new TabServeError(
    'model-format',
    `The manifest of ${url} names ${found}; expected a file ending in .onnx or .json.${advice}`,
  );
}

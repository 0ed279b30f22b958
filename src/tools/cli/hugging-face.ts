import { basename, resolve } from 'node:path';
import type { Archive, Manifest, ModelConfig, NodeConfig } from '../../contract/archive.js';
import { hasModel } from '../../contract/archive-parts.js';
import { TabServeError } from '../../contract/errors.js';
import { parseConfig } from '../../worker/models/config.js';
import { HF_CONFIG } from '../../shared/model-url.js';
import { HANDLER_NAMES } from '../../worker/handlers/registry.js';
import { uncomparedClass } from '../../worker/models/hugging-face/uncompared.js';
import { LABELS, MANIFEST } from '../../worker/models/manifest.js';
import { besideModel, readExternalData } from '../../worker/models/onnx/external-data.js';
import { addFile, addFolder, readLocal, type ArchiveFiles } from './archive-files.js';
import { readArchive } from './check.js';

/** The config file of an archive that is made from a folder of Hugging Face's layout. */
const CONFIG_FILE = 'model-config.yaml';

/** What the manifest says of files that were added. */
export interface AddedModel {
  /** Undefined if the nodes have the models. */
  readonly serializedFile?: string;
  readonly handler: string;
  readonly configFile: string;
  /** The files that the handler reads, separated by commas. */
  readonly extensions?: string;
}

/**
 * Adds a model of Hugging Face's layout as TorchServe's layout has it: the model, `index_to_name.json`, a text model's
 * tokenizer, and the config that follows from the folder's files. If it has several models, each becomes a node in a
 * folder of its own. Of several precisions it takes full precision, which every backend runs, unless `engine.dtype` of
 * the config chooses another.
 * @param chosen the handler, and the path of a config whose keys override the derived ones
 * @throws `unknown-handler` if no built-in handler is for the architecture; `model-config` where a key cannot be
 *   derived; `model-not-found`, `model-format`
 */
export async function addHuggingFace(
  files: ArchiveFiles,
  folder: string,
  chosen: { readonly handler: string | undefined; readonly config: string | undefined },
): Promise<AddedModel> {
  const present: ArchiveFiles = new Map();
  await addFolder(present, folder);
  if (!present.has(HF_CONFIG))
    throw new TabServeError(
      'model-config',
      `--serialized-file: the folder ${folder} has no ${HF_CONFIG}; expected a model file, or a folder of Hugging Face's layout.`,
    );
  const given = { handler: chosen.handler, config: await readConfig(chosen.config) };
  const archive = await readArchive(present, given, basename(resolve(folder)));
  const { handler, extensions } = archive.manifest.model;
  if (handler === undefined) throw new TabServeError('model-config', '--handler is missing.');
  const uncompared = uncomparedClass(archive, '--handler');
  if (uncompared) throw uncompared;
  if (!(HANDLER_NAMES as readonly string[]).includes(handler))
    throw new TabServeError(
      'unknown-handler',
      `${HF_CONFIG}: no built-in handler is for the architecture ${handler}. Set --handler to one that suits its outputs, such as base_handler for the model's tensors or text_feature_extractor for a text's features; docs/inputs.md has their names.`,
    );
  for (const path of [LABELS, ...(extensions?.split(',') ?? [])])
    if (Object.hasOwn(archive.files, path)) addFile(files, path, await bytesOf(archive, path));
  const model = hasModel(archive) ? { serializedFile: await addModel(files, archive, '') } : {};
  const nodes = archive.nodes && (await addNodes(files, archive.nodes));
  const { dump } = await import('js-yaml');
  const config = { ...withoutPrecision(archive.config), ...(nodes && { nodes }) };
  addFile(files, CONFIG_FILE, new TextEncoder().encode(dump(config)));
  return { ...model, handler, configFile: CONFIG_FILE, ...(extensions && { extensions }) };
}

/**
 * Adds an archive's model, with its external data, to a folder, where the other files that the browser needs are, too.
 * @returns the name of the model's file
 */
async function addModel(files: ArchiveFiles, archive: Archive, folder: string): Promise<string> {
  const model = archive.models.onnx!;
  const bytes = await bytesOf(archive, model);
  addFile(files, folder + basename(model), bytes);
  for (const location of new Set(readExternalData(bytes)))
    addFile(files, folder + location, await bytesOf(archive, besideModel(model, location)));
  return basename(model);
}

/** Adds each node as an archive of its own. Returns `nodes` of the config. */
async function addNodes(
  files: ArchiveFiles,
  nodes: Readonly<Record<string, Archive>>,
): Promise<NonNullable<ModelConfig['nodes']>> {
  const entries: [string, string | NodeConfig][] = [];
  for (const [name, node] of Object.entries(nodes)) {
    const folder = `${name}/`;
    const serializedFile = await addModel(files, node, folder);
    const { extensions } = node.manifest.model;
    for (const path of extensions?.split(',') ?? [])
      if (Object.hasOwn(node.files, path)) addFile(files, folder + path, await bytesOf(node, path));
    const manifest: Manifest = {
      model: { modelName: name, serializedFile, handler: 'base_handler', ...(extensions && { extensions }) },
    };
    addFile(files, folder + MANIFEST, new TextEncoder().encode(`${JSON.stringify(manifest, null, 2)}\n`));
    const config = withoutPrecision(node.config);
    entries.push([name, config.engine || config.handler ? { archive: folder, config } : folder]);
  }
  return Object.fromEntries(entries);
}

async function bytesOf({ files }: Archive, path: string): Promise<Uint8Array> {
  return new Uint8Array(await files[path]!.arrayBuffer());
}

/** Returns a config without the precision: the archive has one model, so nothing is left to choose. */
function withoutPrecision({ engine, ...config }: ModelConfig): ModelConfig {
  const { dtype: _, ...others } = engine ?? {};
  return Object.keys(others).length > 0 ? { ...config, engine: others } : config;
}

async function readConfig(path: string | undefined): Promise<ModelConfig> {
  if (path === undefined) return {};
  return await parseConfig(new TextDecoder().decode(await readLocal(path, '--config-file')), path);
}

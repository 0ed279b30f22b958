import { basename } from 'node:path';
import type { ModelConfig } from '../contract/archive.js';
import { TabServeError } from '../contract/errors.js';
import { parseConfig } from '../models/config.js';
import { HF_CONFIG } from '../models/hugging-face/repository.js';
import { LABELS } from '../models/manifest.js';
import { besideModel, readExternalData } from '../shared/onnx-external-data.js';
import { addFile, addFolder, readLocal, type ArchiveFiles } from './archive-files.js';
import { readArchive } from './check.js';

/** The config file of an archive that is made from a folder of Hugging Face's layout. */
const CONFIG_FILE = 'model-config.yaml';

/** What the manifest says of files that were added. */
export interface AddedModel {
  readonly serializedFile: string;
  readonly handler: string;
  readonly configFile: string;
}

/**
 * Adds a model of Hugging Face's layout as TorchServe's layout has it: the model, `index_to_name.json`, a text model's `tokenizer.json`, and the config that
 * follows from the folder's files. Of several precisions it takes full precision, which every backend runs, unless `engine.dtype` of the config chooses another.
 * @param chosen the handler, and the path of a config whose keys are taken over the derived ones
 * @throws `model-config` where the handler or a key cannot be derived; `model-not-found`, `model-format`
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
  const archive = await readArchive(present, { handler: chosen.handler, config: await readConfig(chosen.config) });
  const { handler, extensions } = archive.manifest.model;
  if (handler === undefined) throw new TabServeError('model-config', '--handler is missing.');
  const model = archive.models.onnx!;
  const data = readExternalData(new Uint8Array(await archive.files[model]!.arrayBuffer()));
  // The model's folder becomes the archive's root, where the other files that the browser needs are, too.
  const places = new Map([
    [model, basename(model)],
    ...data.map((location) => [besideModel(model, location), location] as const),
  ]);
  for (const one of [LABELS, extensions]) if (one !== undefined) places.set(one, one);
  for (const [path, blob] of Object.entries(archive.files)) {
    const place = places.get(path);
    if (place !== undefined) addFile(files, place, new Uint8Array(await blob.arrayBuffer()));
  }
  const { dump } = await import('js-yaml');
  addFile(files, CONFIG_FILE, new TextEncoder().encode(dump(withoutPrecision(archive.config))));
  return { serializedFile: basename(model), handler, configFile: CONFIG_FILE };
}

/** The archive has one model, so nothing is left to choose. */
function withoutPrecision({ engine, ...config }: ModelConfig): ModelConfig {
  const { dtype: _, ...others } = engine ?? {};
  return Object.keys(others).length > 0 ? { ...config, engine: others } : config;
}

async function readConfig(path: string | undefined): Promise<ModelConfig> {
  if (path === undefined) return {};
  return await parseConfig(new TextDecoder().decode(await readLocal(path, '--config-file')), path);
}

/** The models of a repository: one file in several precisions, or one for each node. */
import type { Archive, ModelConfig } from '../../../contract/archive.js';
import { atNode } from '../../../contract/errors.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import { HUB_ENDINGS, HUB_PRECISIONS, type ModelFile, type Precision } from '../../../contract/precisions.js';
import { architectureOf, type Json } from '../../../shared/hugging-face.js';
import { isRecord } from '../../../shared/schema.js';
import { chosenForNode } from '../node-precision.js';
import { sortFiles } from '../../../shared/model-files.js';
import { missingModel, possiblePrecisions } from '../choose-model.js';
import type { Source } from '../sources/source.js';

/** The names of the nodes' files. */
type Nodes = NonNullable<HuggingFaceTask['nodes']>;

/** The folders in which exporters put models: transformers.js' converter, and Optimum. */
export const FOLDERS = ['onnx/', ''];

/** The usual name by which `engine.dtype` chooses a precision of the model that others are beside. */
const MAIN = 'decoder';

/** The keys of `config.json` for a part of a model of several senses. Older ones of Qwen2-VL, and Phi-4's, have none for texts. */
const PARTS = ['text_config', 'vision_config'];

/** Returns the files beside a task's model: none unless the model is divided. */
export function besideOf(
  { paths }: Source,
  {
    beside = {},
    besideTypes = {},
    besideKeys = {},
    divided = [],
  }: Pick<HuggingFaceTask, 'beside' | 'besideTypes' | 'besideKeys' | 'divided'>,
  json: Json,
): Nodes {
  const architecture = architectureOf(json);
  const isDivided = divided.some((name) => architecture?.endsWith(name) || json['model_type'] === name);
  if (!isDivided && !PARTS.some((key) => isRecord(json[key]))) return {};
  const isThere = (name: string): boolean =>
    !paths || FOLDERS.some((folder) => paths.some((path) => path.startsWith(folder + name) && path.endsWith('.onnx')));
  const isOfType = (node: string): boolean => besideTypes[node]?.includes(json['model_type'] as string) ?? true;
  const isWanted = (node: string, names: readonly string[]): boolean => {
    const key = besideKeys[node];
    return key === undefined ? names.some(isThere) : isRecord(json[key]);
  };
  return Object.fromEntries(Object.entries(beside).filter(([node, names]) => isOfType(node) && isWanted(node, names)));
}

/** Returns all nodes of a task whose precisions `engine.dtype` can choose; undefined if it has a single model. */
export function namedNodes({ models, main = MAIN, nodes }: Partial<HuggingFaceTask>, beside: Nodes): Nodes | undefined {
  return Object.keys(beside).length === 0 ? nodes : { [main]: models ?? ['model'], ...beside };
}

/**
 * Returns where the models of a task may be.
 * @param beside the files beside the model
 * @throws `model-not-found` if one is not among the local files in any precision that `config` allows; `model-config`
 *   if `engine.dtype` names something that is not a node
 */
export function modelsOf(
  source: Source,
  config: ModelConfig,
  task: Pick<Partial<HuggingFaceTask>, 'models' | 'main' | 'nodes'> = {},
  beside: Nodes = {},
): Pick<Archive, 'config' | 'models' | 'alternatives' | 'nodes'> {
  const nodes = namedNodes(task, beside);
  if (!nodes) {
    chosenForNode(config, '', []);
    return { config, ...modelOf(modelFiles(source, config, task.models)) };
  }
  const { dtype: _, ...engine } = config.engine ?? {};
  const { remote: __, ...shared } = engine;
  const configOf = (name: string, keys: object): ModelConfig => {
    const dtype = chosenForNode(config, name, Object.keys(nodes));
    return { engine: { ...keys, ...(dtype && { dtype }) } };
  };
  const archives = Object.entries(task.nodes ?? beside).map(([name, files]) => {
    try {
      return [name, nodeArchive(source, name, configOf(name, shared), files)] as const;
    } catch (error) {
      throw atNode(error, name);
    }
  });
  const own = task.nodes ? { ...config, engine } : { ...config, ...configOf(task.main ?? MAIN, engine) };
  const model = task.nodes ? { models: {} } : modelOf(modelFiles(source, own, task.models));
  return { config: own, ...model, nodes: Object.fromEntries(archives) };
}

function nodeArchive(source: Source, name: string, config: ModelConfig, names: readonly string[]): Archive {
  return {
    url: source.url,
    manifest: { model: { modelName: name } },
    config,
    ...modelOf(modelFiles(source, config, names)),
    files: {},
    golden: [],
    integrity: {},
  };
}

function modelOf(alternatives: readonly ModelFile[]): Pick<Archive, 'models' | 'alternatives'> {
  return { models: { onnx: alternatives[0]!.path }, alternatives };
}

/**
 * Returns the files that the model may be in; of local files, those that exist.
 * @throws `model-not-found` if the model is not among the local files in any precision that `config` allows
 */
export function modelFiles(
  source: Source,
  config: ModelConfig,
  names: readonly string[] = ['model'],
): readonly ModelFile[] {
  const all = FOLDERS.flatMap((folder) =>
    names.flatMap((name) =>
      HUB_PRECISIONS.flatMap((precision) =>
        HUB_ENDINGS[precision].map((ending) => ({ path: `${folder}${name}${ending}.onnx`, precision })),
      ),
    ),
  );
  const { paths } = source;
  const files = paths ? all.filter(({ path }) => paths.includes(path)) : all;
  const possible = possiblePrecisions(config);
  if (sortFiles(files, possible).length === 0) throw missingModel(source, sortFiles(all, possible), paths ? files : []);
  return files;
}

/** Returns the engine's keys that a repository sets for transformers.js. */
export function engineOf(config: Json, nodes?: Nodes): ModelConfig {
  const own = config['transformers.js_config'] as { free_dimension_overrides?: Record<string, number> } | undefined;
  const freeDimensions = own?.free_dimension_overrides;
  const dtype = ownPrecision(config, nodes);
  return freeDimensions || dtype
    ? { engine: { ...(freeDimensions && { freeDimensions }), ...(dtype && { dtype }) } }
    : {};
}

/** Returns the precision that the repository itself names for its model, or for its nodes; undefined if it names none. */
export function ownPrecision(config: Json, nodes?: Nodes): Precision | Readonly<Record<string, Precision>> | undefined {
  const own = config['transformers.js_config'];
  const dtype = isRecord(own) ? own['dtype'] : undefined;
  if (!isRecord(dtype)) return precisionOf(dtype);
  if (!nodes) return precisionOf(dtype['model']);
  // transformers.js names the files, not the nodes.
  const chosen = Object.entries(nodes).flatMap(([name, files]) => {
    const precision = files.map((file) => precisionOf(dtype[file])).find((one) => one !== undefined);
    return precision === undefined ? [] : [[name, precision] as const];
  });
  return chosen.length > 0 ? Object.fromEntries(chosen) : undefined;
}

function precisionOf(name: unknown): Precision | undefined {
  return HUB_PRECISIONS.find((precision) => precision === name);
}

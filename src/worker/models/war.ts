/** TorchServe's workflow archives: a script of its own, since few models are one. */
import type { Archive, ModelConfig, NodeConfig } from '../../contract/archive.js';
import { shorten } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { MAX_METADATA_BYTES } from '../../contract/limits.js';
import { wrongValue } from '../../shared/read-options.js';
import { isRecord } from '../../shared/schema.js';
import { mergeConfig, parseConfig } from './config.js';
import { parseJson, readText } from './json.js';
import { WORKFLOW_MANIFEST } from './manifest.js';
import { readRequired, type Source } from './sources/source.js';

/** The spec's keys for how a model is served, with what they set. */
const SERVING: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'min-workers': 'minWorkers',
    'max-workers': 'maxWorkers',
    'batch-size': 'batchSize',
    'max-batch-delay': 'maxBatchDelay',
    'retry-attempts': 'retryAttempts',
    'timeout-ms': 'timeout',
  }),
);

type Settings = Readonly<Record<string, number>>;

/**
 * Reads a workflow as torch-workflow-archiver packs it (`.war`): its manifest, and the YAML that describes the graph.
 * Its models are files in it or in its folder. It becomes the archive of a `graph_workflow`.
 * @param config overrides the YAML
 * @throws `model-format`, `model-config` naming the key that is wrong
 */
export async function readWar(source: Source, config: ModelConfig): Promise<Archive> {
  const manifest = parseJson(
    await readText(
      await readRequired(source, WORKFLOW_MANIFEST, {}, MAX_METADATA_BYTES),
      WORKFLOW_MANIFEST,
      MAX_METADATA_BYTES,
    ),
    WORKFLOW_MANIFEST,
  );
  const { workflowName, specFile } = isRecord(manifest) && isRecord(manifest['workflow']) ? manifest['workflow'] : {};
  if (typeof workflowName !== 'string' || typeof specFile !== 'string')
    throw wrongValue(`${WORKFLOW_MANIFEST}: workflow`, '{ workflowName, specFile }', manifest, 'model-format');
  const file = await readRequired(source, specFile, {}, MAX_METADATA_BYTES);
  const spec = await parseConfig(await readText(file, specFile, MAX_METADATA_BYTES), specFile);
  return {
    url: source.url,
    manifest: { model: { modelName: workflowName, handler: 'graph_workflow' } },
    config: mergeConfig(configOf(spec, specFile, source), config),
    models: {},
    files: { [specFile]: file },
    golden: [],
    integrity: {},
  };
}

function configOf(spec: ModelConfig, file: string, source: Source): ModelConfig {
  const { models, dag } = spec;
  if (!isRecord(models)) throw wrongValue(`${file}: models`, 'a mapping of names to models', models, 'model-config');
  if (!isRecord(dag)) throw wrongValue(`${file}: dag`, 'a mapping of names to lists of names', dag, 'model-config');
  const shared = settingsOf(models, `${file}: models`);
  const nodes = new Map<string, NodeConfig>();
  const nodeSettings = new Map<string, Settings>();
  let serving: Settings = shared;
  for (const [name, model] of Object.entries(models)) {
    if (SERVING.has(name)) continue;
    const where = `${file}: models.${shorten(name)}`;
    if (!isRecord(model)) throw wrongValue(where, 'a mapping with the key url', model, 'model-config');
    const { url } = model;
    if (typeof url !== 'string' || url === '')
      throw wrongValue(`${where}.url`, 'the file of an archive', url, 'model-config');
    nodes.set(name, { archive: locate(url, source) });
    const own = settingsOf(model, where, ['url']);
    const { batchSize, maxBatchDelay, retryAttempts, timeout } = { ...shared, ...own };
    nodeSettings.set(name, withoutUndefined({ batchSize, maxBatchDelay, retryAttempts, timeout }));
    serving = largest(serving, own);
  }
  // Rows wait in the nodes, and not before them.
  const { maxBatchDelay: _, retryAttempts: __, timeout: ___, ...top } = serving;
  return {
    ...top,
    nodes: Object.fromEntries(nodes),
    handler: { dag, nodeSettings: Object.fromEntries(nodeSettings) },
  };
}

/** Returns where a model is: in the archive, or in the archive's folder. */
function locate(url: string, { paths = [], url: war }: Source): string {
  if (paths.includes(url) || !URL.canParse(url, war)) return url;
  return new URL(url, war).href;
}

/** @throws `model-config` for a key that is not known, and for what is no number */
function settingsOf(
  values: Readonly<Record<string, unknown>>,
  where: string,
  others: readonly string[] = [],
): Settings {
  const settings: Record<string, number> = {};
  for (const [key, value] of Object.entries(values)) {
    const setting = SERVING.get(key);
    if (setting !== undefined && typeof value !== 'number')
      throw wrongValue(`${where}.${key}`, 'a number', value, 'model-config');
    if (setting !== undefined) settings[setting] = value as number;
    else if (!others.includes(key) && !isRecord(value))
      throw new TabServeError(
        'model-config',
        `${where}.${shorten(key)} is not known; a model has url, ${[...SERVING.keys()].join(', ')}.`,
      );
  }
  return settings;
}

/**
 * Returns the larger value of each setting: all nodes run in one worker, which must be as large as the largest of them.
 */
function largest(one: Settings, other: Settings): Settings {
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...keys].map((key) => [key, Math.max(one[key] ?? 0, other[key] ?? 0)]));
}

function withoutUndefined(values: Readonly<Record<string, number | undefined>>): Settings {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Settings;
}

import type { ModelConfig } from '../contract/archive.js';
import { TabServeError } from '../contract/errors.js';
import { LARGEST_TENSOR, MOST_THREADS } from '../contract/limits.js';
import { DTYPES } from '../contract/dtypes.js';
import { load } from '../libraries/yaml.js';
import { PRECISIONS } from '../contract/precisions.js';
import { REMOTE_PROTOCOLS } from '../contract/remote.js';
import { once } from '../shared/once.js';
import { checkSection, isRecord, type ConfigSchema, type Schema } from '../shared/schema.js';
import { SERVING } from '../contract/settings.js';

/** The top level of `model-config.yaml`: the two sections, and those of TorchServe's keys that apply in a browser. */
export const CONFIG_SCHEMA: ConfigSchema = {
  handler: { type: 'object', description: "The handler's own keys." },
  engine: { type: 'object', description: "The engine's keys." },
  nodes: {
    type: 'object',
    additionalProperties: {
      anyOf: [
        { type: 'string' },
        {
          type: 'object',
          properties: { archive: { type: 'string' }, handler: { type: 'string' }, config: { type: 'object' } },
        },
      ],
    },
    description:
      "The archives of a workflow's nodes, by the node's name: a path in this archive or a URL; or { archive, handler, config }, with a built-in handler and a config that are taken over the archive's own (docs/workflows.md#the-archive).",
  },
  ...SERVING,
};

export const ENGINE_SCHEMA: ConfigSchema = {
  graphOptimizationLevel: {
    enum: ['disabled', 'basic', 'extended', 'all'],
    description: 'How far ONNX Runtime rewrites the graph before it runs. Default all.',
  },
  freeDimensions: {
    type: 'object',
    additionalProperties: { type: 'integer', minimum: 1, maximum: LARGEST_TENSOR },
    description:
      'Sizes for the symbolic dimensions of the inputs, by name: a graph of known size is faster, and WebNN needs it. A name that no input has is an error while a dimension is free.',
  },
  dtype: {
    enum: [...PRECISIONS],
    description:
      "The precision of the weights, for a model that is there in several. In Hugging Face's layout: the file model.onnx (fp32), model_fp16.onnx (fp16), model_quantized.onnx (q8), or model_ and the name. Default: what transformers.js_config in its config.json says, otherwise what suits each backend (docs/hugging-face.md). In an archive: what tabserve.json lists (docs/archives.md#several-precisions).",
  },
  threads: {
    type: 'integer',
    minimum: 1,
    maximum: MOST_THREADS,
    description:
      'Threads on WASM; more than one needs cross-origin isolation. Default: half the cores, at most 4, and at most so many that each of maxWorkers workers has its own.',
  },
  remote: {
    type: 'object',
    properties: {
      model: { type: 'string', minLength: 1 },
      version: { type: 'string', minLength: 1 },
      protocol: { enum: [...REMOTE_PROTOCOLS] },
      binary: { type: 'boolean' },
      inputs: tensorInfos(),
      outputs: tensorInfos(),
    },
    additionalProperties: false,
    description:
      'The model on a server, for the backend `remote`: its name and version there, the protocol, and where the server does not describe its models, their inputs and outputs, each as { name, dtype, dims } with null for the batch axis. Only the app says which server (docs/remote.md#protocols).',
  },
};

function tensorInfos(): Schema {
  const dim: Schema = {
    anyOf: [{ type: 'integer', minimum: 0, maximum: LARGEST_TENSOR }, { type: 'string' }, { type: 'null' }],
  };
  return {
    type: 'array',
    minItems: 1,
    items: {
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 1 },
        dtype: { enum: Object.keys(DTYPES) },
        dims: { type: 'array', items: dim },
      },
      required: ['name', 'dtype', 'dims'],
      additionalProperties: false,
    },
  };
}

/**
 * Checks a config, except for the section `handler`, which the handler checks. Unknown keys at the top level are allowed: a custom handler may read them.
 * @throws `model-config` naming the key, the values that it may have, and the value that it has
 */
export function checkConfig(config: ModelConfig, warn: (message: string) => void): void {
  checkSection(CONFIG_SCHEMA, config, '', (message, meant) => meant && warn(message));
  checkSection(ENGINE_SCHEMA, { ...config.engine }, 'engine', warn);
}

const loadYaml = once(async () => {
  const [{ parseYaml }, parser] = await Promise.all([import('./yaml.js'), load()]);
  return (text: string, file: string) => parseYaml(text, file, parser);
});

/** Begins to load the parser for `parseConfig`, which reports its failure. */
export function beginYaml(): void {
  loadYaml().catch(() => {});
}

/** Reads a `model-config.yaml`. @throws `model-config` naming the place of the error */
export async function parseConfig(text: string, file: string): Promise<ModelConfig> {
  const parseYaml = await loadYaml();
  const config = parseYaml(text, file);
  if (config === null || config === undefined) return {};
  if (!isRecord(config)) throw new TabServeError('model-config', `${file} must be a mapping of keys to values.`);
  for (const section of ['handler', 'engine']) {
    if (config[section] !== undefined && !isRecord(config[section]))
      throw new TabServeError('model-config', `${file}: ${section} must be a mapping of keys to values.`);
  }
  return config;
}

/** Returns `base` with the keys of `over` in place of its own; within `handler`, `engine` and `engine.remote`, key by key. */
export function mergeConfig(base: ModelConfig, over: ModelConfig): ModelConfig {
  return { ...base, ...over, ...mergeSection('handler', base, over), ...mergeSection('engine', base, over) };
}

/** A value that is no mapping is kept: `checkConfig` reports it. */
function mergeSection(
  key: 'handler' | 'engine',
  { [key]: base }: ModelConfig,
  { [key]: over }: ModelConfig,
): ModelConfig {
  if (over === undefined) return base === undefined ? {} : { [key]: base };
  if (!isRecord(over)) return { [key]: over };
  const { remote } = over;
  const isBoth = key === 'engine' && isRecord(remote) && isRecord(base?.['remote']);
  return { [key]: { ...base, ...over, ...(isBoth && { remote: { ...(base!['remote'] as object), ...remote } }) } };
}

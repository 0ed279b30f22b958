import { loadScript } from '../../shared/load-script.js';
import type { ModelConfig } from '../../contract/archive.js';
import { TabServeError } from '../../contract/errors.js';
import { MAX_METADATA_BYTES, MAX_TENSOR_ELEMENTS } from '../../contract/limits.js';
import { DTYPES } from '../../contract/dtypes.js';
import { load } from '../libraries/yaml.js';
import { REMOTE_PROTOCOLS } from '../../contract/remote.js';
import { checkSection, isRecord, type ConfigSchema, type Schema } from '../../shared/schema.js';
import { OVER_HTTP, SERVING } from '../../contract/settings.js';
import { whyTooMuch } from './config-limits.js';
import { hashOfFile } from './integrity.js';
import { ENGINE_OPTIONS_SCHEMA } from './schemas.js';
import { readText } from './json.js';

/** The top level of `model-config.yaml`: the two sections, and those of TorchServe's keys that apply in a browser. */
export const CONFIG_SCHEMA: ConfigSchema = {
  /** The handler's own keys. */
  handler: { type: 'object' },
  /** The engine's keys. */
  engine: { type: 'object' },
  /**
   * The archives of a workflow's nodes, by the node's name: a path in this archive or a URL; or { archive, handler,
   * config }, with a built-in handler and a config that are taken over the archive's own (docs/workflows.md#the-archive).
   */
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
  },
  ...SERVING,
  ...OVER_HTTP,
  /** Whether a request over HTTP is answered with 503 if every worker is busy, instead of waiting. Default false. */
  useJobTicket: { type: 'boolean' },
};

/** The keys of `engine:`. */
export const ENGINE_SCHEMA: ConfigSchema = {
  ...ENGINE_OPTIONS_SCHEMA,
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
  },
};

function tensorInfos(): Schema {
  const dim: Schema = {
    anyOf: [{ type: 'integer', minimum: 0, maximum: MAX_TENSOR_ELEMENTS }, { type: 'string' }, { type: 'null' }],
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
 * Checks a config, except for the section `handler`, which the handler checks. Unknown keys at the top level are
 * allowed: a custom handler may read them.
 * @throws `model-config` naming the key, the values that it may have, and the value that it has
 */
export function checkConfig(config: ModelConfig, warn: (message: string) => void): void {
  checkSection(CONFIG_SCHEMA, config, '', (message, meant) => meant && warn(message));
  checkSection(ENGINE_SCHEMA, { ...config.engine }, 'engine', warn);
}

const loadYaml = once(async () => {
  const [{ parseYaml }, parser] = await Promise.all([loadScript(() => import('./yaml.js')), load()]);
  return (text: string, file: string) => parseYaml(text, file, parser);
});

/** Begins to load the parser for `parseConfig`, which reports its failure. */
export function beginYaml(): void {
  loadYaml().catch(() => {});
}

/** What a config file says, as it was parsed when its archive was made. */
export interface ParsedConfig {
  /** The file's SHA-256, in hexadecimal. The entry applies to no other file. */
  readonly sha256: string;
  readonly config: unknown;
}

/**
 * Reads a `model-config.yaml`. A visitor downloads no parser for a file that was parsed when its archive was made, and
 * has not been edited since.
 * @throws `model-config` naming the line or the key of the error
 */
export async function readConfig(file: Blob, path: string, parsed?: ParsedConfig): Promise<ModelConfig> {
  const text = await readText(file, path, MAX_METADATA_BYTES);
  if (parsed && (await hashOfFile(file)) === parsed.sha256.toLowerCase()) {
    const why = whyTooMuch(parsed.config);
    if (why === undefined) return checkSections(parsed.config, path);
    throw new TabServeError('model-config', `tabserve.json: parsedConfig of ${path} cannot be a config: ${why}`);
  }
  return await parseConfig(text, path);
}

/** Parses a `model-config.yaml`. @throws `model-config` naming the line or the key of the error */
export async function parseConfig(text: string, file: string): Promise<ModelConfig> {
  const parseYaml = await loadYaml();
  return checkSections(parseYaml(text, file), file);
}

function checkSections(config: unknown, file: string): ModelConfig {
  if (config === null || config === undefined) return {};
  if (!isRecord(config)) throw new TabServeError('model-config', `${file} must be a mapping of keys to values.`);
  for (const section of ['handler', 'engine']) {
    if (config[section] !== undefined && !isRecord(config[section]))
      throw new TabServeError('model-config', `${file}: ${section} must be a mapping of keys to values.`);
  }
  return config;
}

/**
 * Returns `base` with its keys overridden by those of `over`; within `handler`, `engine` and `engine.remote`, key by
 * key.
 */
export function mergeConfig(base: ModelConfig, over: ModelConfig): ModelConfig {
  return { ...base, ...over, ...mergeSection('handler', base, over), ...mergeSection('engine', base, over) };
}

/** Merges a section of two configs. Leaves a value that is no mapping, which `checkConfig` reports. */
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

/**
 * Returns a function that calls `load` once, and again only after a failure. Each `import()` waits for a task of the
 * browser's, even of a module that is loaded; while an engine arrives, that takes a quarter of a second.
 */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    if (!loading) {
      loading = load();
      loading.catch(() => (loading = undefined));
    }
    return loading;
  };
}

import type { ModelConfig } from '../contract/archive.js';
import { TabServeError } from '../contract/errors.js';
import { checkSection, isRecord, type ConfigSchema } from '../shared/schema.js';
import { SERVING } from '../contract/settings.js';

/** The top of `model-config.yaml`: TorchServe's keys that mean something in a tab, and the two sections. */
export const CONFIG_SCHEMA: ConfigSchema = {
  handler: { type: 'object', description: "The handler's own keys." },
  engine: { type: 'object', description: "The engine's keys." },
  ...SERVING,
};

export const ENGINE_SCHEMA: ConfigSchema = {
  graphOptimizationLevel: {
    enum: ['disabled', 'basic', 'extended', 'all'],
    description: 'How far ONNX Runtime rewrites the graph before it runs. Default all.',
  },
  freeDimensions: {
    type: 'object',
    additionalProperties: { type: 'integer', minimum: 1 },
    description:
      'Sizes for the symbolic dimensions of the inputs, by name: a graph of known size is faster, and some backends need it.',
  },
  threads: {
    type: 'integer',
    minimum: 1,
    description: 'Threads on WASM; more than one needs cross-origin isolation. Default min(4, half the cores).',
  },
};

/**
 * Checks all of a config but what is in `handler`, which its handler knows. Other keys at the top are passed on: a handler of the user's own may read them.
 * @throws `model-config` naming the key, what it may be and what it is
 */
export function checkConfig(config: ModelConfig, warn: (message: string) => void): void {
  checkSection(CONFIG_SCHEMA, config, '', (message, meant) => meant && warn(message));
  checkSection(ENGINE_SCHEMA, { ...config.engine }, 'engine', warn);
}

/** Reads a `model-config.yaml`. @throws `model-config` with the place of the error */
export async function parseConfig(text: string, file: string): Promise<ModelConfig> {
  const { parse } = await import('yaml');
  let config: unknown;
  try {
    config = parse(text) as unknown;
  } catch (cause) {
    throw new TabServeError(
      'model-config',
      `${file} is not YAML: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
  if (config === null) return {};
  if (!isRecord(config)) throw new TabServeError('model-config', `${file} must be a mapping of keys to values.`);
  for (const section of ['handler', 'engine']) {
    if (config[section] !== undefined && !isRecord(config[section]))
      throw new TabServeError('model-config', `${file}: ${section} must be a mapping of keys to values.`);
  }
  return config;
}

/** `over` taken over `base`, key by key within `handler` and `engine`. Neither is changed. */
export function mergeConfig(base: ModelConfig, over: ModelConfig): ModelConfig {
  return { ...base, ...over, ...mergeSection('handler', base, over), ...mergeSection('engine', base, over) };
}

/** What is no section stays as it is, for `checkConfig` to tell. */
function mergeSection(
  key: 'handler' | 'engine',
  { [key]: base }: ModelConfig,
  { [key]: over }: ModelConfig,
): ModelConfig {
  if (over === undefined) return base === undefined ? {} : { [key]: base };
  return { [key]: isRecord(over) ? { ...base, ...over } : over };
}

import type { ModelConfig } from '../contract.js';
import { TabServeError } from '../errors.js';

/** Reads a `model-config.yaml`. @throws `model-config` with the place of the error */
export async function parseConfig(text: string, file: string): Promise<ModelConfig> {
  const { parse } = await import('yaml');
  let config: unknown;
  try {
    config = parse(text) as unknown;
  } catch (cause) {
    throw new TabServeError('model-config', `${file} is not YAML: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  if (config === null) return {};
  if (!isRecord(config)) throw new TabServeError('model-config', `${file} must be a mapping of keys to values.`);
  for (const section of ['handler', 'engine']) {
    if (config[section] !== undefined && !isRecord(config[section])) throw new TabServeError('model-config', `${file}: ${section} must be a mapping of keys to values.`);
  }
  return config;
}

/** `over` taken over `base`, key by key within `handler` and `engine`. Neither is changed. */
export function mergeConfig(base: ModelConfig, over: ModelConfig): ModelConfig {
  return {
    ...base,
    ...over,
    ...(base.handler || over.handler ? { handler: { ...base.handler, ...over.handler } } : {}),
    ...(base.engine || over.engine ? { engine: { ...base.engine, ...over.engine } } : {}),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

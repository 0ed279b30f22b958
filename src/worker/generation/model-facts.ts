/** What the files of a repository say of the answers of its model. */
import type { Files } from '../../contract/archive.js';
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import type { Json } from '../../shared/hugging-face.js';
import { HF_CONFIG } from '../../shared/model-url.js';
import { checkSection, isRecord, type ConfigSchema } from '../../shared/schema.js';
import { snakeCase } from './settings.js';
import { UNSUPPORTED } from './unsupported-params.js';

export const GENERATION_CONFIG = 'generation_config.json';

/** What a repository's files say of all answers. */
export interface ModelFacts {
  /** The parsed `generation_config.json`, or where it is missing `config.json`; empty if there is neither. */
  readonly defaults: Json;
  /**
   * Checks the defaults of sampling.
   * @param counts whether a default counts: not where a request or the config has set a value
   * @throws `model-config` naming a key of the wrong type or range
   */
  readonly checkSampling: (counts: (name: (typeof OF_SAMPLING)[number]) => boolean) => void;
  /** The tokens that end an answer, by `config.json`: they count if `generation_config.json` names none. */
  readonly eosTokenIds: readonly number[];
  /** The token that the decoder of an encoder begins with. */
  readonly startTokenId: number | undefined;
  readonly vocabularySize: number | undefined;
}

/**
 * Reads `generation_config.json` and `config.json`, if they are there.
 * @param schema of the params that the handler has
 * @param warn called with what they say and what has no effect here
 * @throws `model-format`; `model-config` naming a key of the wrong type or range
 */
export async function readModelFacts(
  files: Files,
  schema: ConfigSchema,
  vocabularySize: number | undefined,
  warn: (message: string) => void,
): Promise<ModelFacts> {
  const config = files.has(HF_CONFIG) ? await files.json(HF_CONFIG) : {};
  const model = isRecord(config) ? config : {};
  // Before transformers 4.26, config.json had what generation_config.json has now.
  const file = files.has(GENERATION_CONFIG) ? GENERATION_CONFIG : HF_CONFIG;
  const defaults = readDefaults(file === HF_CONFIG ? model : await files.json(file), file, schema);
  const ignored = ignoredDefaults(defaults, schema);
  if (ignored.length > 0)
    warn(`${file}: ${ignored.join(', ')} would change answers in transformers, and has no effect here.`);
  return {
    defaults,
    checkSampling: (counts) => checkDefaults(defaults, OF_SAMPLING.filter(counts), file, schema),
    eosTokenIds: eosTokensOf(model),
    startTokenId: startTokenOf(defaults) ?? startTokenOf(model) ?? startTokenOf(textConfigOf(model)),
    vocabularySize,
  };
}

/** Without `do_sample`, transformers ignores these, whatever the file says. They are checked when a request samples. */
const OF_SAMPLING = ['temperature', 'topK', 'topP', 'minP'] as const;

/**
 * Checks the keys of `generation_config.json` that are params here.
 * @throws `model-format` if it is not a mapping; `model-config` naming a key of the wrong type or range
 */
function readDefaults(value: unknown, file: string, schema: ConfigSchema): Json {
  if (!isRecord(value))
    throw new TabServeError(
      'model-format',
      `${file} must be a mapping of keys to values, not ${describeValue(value)}.`,
    );
  const isOfSampling = (name: string): boolean => (OF_SAMPLING as readonly string[]).includes(name);
  const names = Object.keys(schema).filter((name) => value['do_sample'] === true || !isOfSampling(name));
  checkDefaults(value, names, file, schema);
  for (const key of FORCED) checkForced(value[key], key, file);
  return value;
}

/** The tokens that the file puts at the beginning and the end of an answer. */
const FORCED = ['forced_bos_token_id', 'forced_eos_token_id'] as const;

/** @throws `model-config` for what is no token, or an empty list: nothing could follow */
function checkForced(value: unknown, key: (typeof FORCED)[number], file: string): void {
  const tokens = [value].flat();
  const isList = Array.isArray(value);
  const fits = tokens.length > 0 && tokens.every(isToken) && (!isList || key === 'forced_eos_token_id');
  if (value === undefined || value === null || fits) return;
  const expected = key === 'forced_eos_token_id' ? 'a token, or a list of at least one' : 'a token';
  throw new TabServeError('model-config', `${file}: ${key} must be ${expected}, not ${describeValue(value)}.`);
}

/** @throws `model-config` naming a key of the wrong type or range */
function checkDefaults(defaults: Json, names: readonly string[], file: string, schema: ConfigSchema): void {
  const own = names.map((name) => [name, defaults[snakeCase(name)] ?? undefined] as const);
  checkSection(schema, Object.fromEntries(own), file, () => {});
}

/** What has an effect by the file, and is no param of a handler of texts. */
const APPLIED = new Set([
  'maxLength',
  'minLength',
  'stopStrings',
  'suppressTokens',
  'beginSuppressTokens',
  'sequenceBias',
]);

/**
 * Returns the keys of a `generation_config.json` that change answers in transformers, and that the handler does not
 * have. A value that changes nothing, such as `num_beams: 1`, is none.
 */
function ignoredDefaults(defaults: Json, schema: ConfigSchema): readonly string[] {
  const harmless = new Set<unknown>([undefined, null, false, 0, 1, '']);
  return [...UNSUPPORTED]
    .filter((name) => !Object.hasOwn(schema, name) && !APPLIED.has(name))
    .map(snakeCase)
    .filter((key) => !harmless.has(defaults[key]));
}

/** Returns the tokens that end an answer, as `config.json` has them. */
function eosTokensOf(config: Json): readonly number[] {
  const ids: unknown = config['eos_token_id'] ?? textConfigOf(config)['eos_token_id'] ?? [];
  return [ids].flat().filter(isToken);
}

function startTokenOf({ decoder_start_token_id: start, bos_token_id: bos }: Json): number | undefined {
  return [start, bos].find(isToken);
}

/** Returns the part of a `config.json` that is of the model of texts; all of it if there are no parts. */
function textConfigOf(config: Json): Json {
  return [config['text_config'], config['decoder']].find(isRecord) ?? config;
}

/** Returns whether a value may be the id of a token. */
export function isToken(id: unknown): id is number {
  return Number.isSafeInteger(id) && (id as number) >= 0;
}

/** The keys of `config.json` that say how many positions a model has, the first one that is there counts. */
const POSITIONS = ['max_position_embeddings', 'n_positions', 'n_ctx', 'max_seq_len'];

/**
 * Returns the most tokens of prompt and answer together, as `config.json` has it.
 * @throws `model-config` for what is no number of tokens
 */
export function contextLengthOf(config: Json, keys: readonly string[] = POSITIONS): number | undefined {
  const text = textConfigOf(config);
  const key = keys.find((one) => text[one] !== undefined && text[one] !== null);
  if (key === undefined) return undefined;
  const length = text[key];
  if (isToken(length) && length > 0) return length;
  throw new TabServeError(
    'model-config',
    `${HF_CONFIG}: ${key} must be a number of tokens above 0, not ${describeValue(length)}.`,
  );
}

import { describeValue } from '../../../contract/describe-value.js';
import { invalidInput, type TabServeError } from '../../../contract/errors.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { nearestName } from '../../../shared/nearest-name.js';
import type { Settings } from '../settings.js';
import type { Automata } from './automata.js';
import type { Automaton } from './automaton.js';
import { OBJECT } from './json.js';
import { schemaGrammar, tooDeep } from './json-schema.js';

/** What an answer must be: any text, an object of JSON, or a value that fits a JSON Schema. */
export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | { readonly type: 'json_schema'; readonly schema: boolean | Readonly<Record<string, unknown>> };

/** How messages call the schema. */
const SCHEMA = 'params.responseFormat.schema';
/** The maximum number of characters of a format's JSON. */
const MAX_LENGTH = 100_000;
/** The maximum number of levels of a format's JSON: a schema in `anyOf` is two below the one around it. */
const MAX_LEVELS = 250;
/** The keys of a format, by its type. */
const KEYS = { text: ['type'], json_object: ['type'], json_schema: ['type', 'schema'] } as const;

/**
 * Returns the grammar of a format; undefined for any text.
 * @throws `invalid-input` naming what is wrong or not supported
 */
export function formatGrammar(format: ResponseFormat, automata: Automata): Automaton | undefined {
  checkFormat(format);
  if (format.type === 'text') return undefined;
  const key = JSON.stringify(format);
  if (key.length > MAX_LENGTH)
    throw refusal(`it has ${key.length} characters of JSON; at most ${MAX_LENGTH} are supported.`);
  return automata.of(key, () => grammarOf(format));
}

/** @throws `invalid-input` by name for settings that contradict a guided answer. @param where what guides it */
export function checkGuided(
  { stop, minNewTokens = 0, forcedBosTokenId, forcedEosTokenIds }: Settings,
  where: 'responseFormat' | 'toolChoice',
): void {
  const wrong = Object.entries({
    stop: stop.length > 0,
    minNewTokens: minNewTokens > 0,
    forced_bos_token_id: forcedBosTokenId !== undefined,
    forced_eos_token_id: forcedEosTokenIds !== undefined,
  }).find(([, is]) => is);
  if (!wrong) return;
  throw invalidInput(
    `params.${where}: it is not supported together with ${wrong[0]}, which could break the answer's JSON.`,
  );
}

/** @throws `invalid-input` for a format of too many levels, which the checks of other params call something else */
export function checkLevels(format: unknown): void {
  let level = new Set([format]);
  for (let levels = 0; level.size > 0; levels++) {
    if (levels > MAX_LEVELS) throw tooDeep(SCHEMA);
    const inner = [...level].flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
    level = new Set(inner.filter((one) => typeof one === 'object'));
  }
}

function grammarOf(format: Exclude<ResponseFormat, { readonly type: 'text' }>): ReturnType<typeof schemaGrammar> {
  return format.type === 'json_object' ? OBJECT : schemaGrammar(format.schema, SCHEMA);
}

function checkFormat(format: unknown): asserts format is ResponseFormat {
  const type = isPlainObject(format) ? format['type'] : undefined;
  if (!isPlainObject(format) || (type !== 'text' && type !== 'json_object' && type !== 'json_schema'))
    throw refusal(
      `expected { type: 'json_object' }, { type: 'json_schema', schema } or { type: 'text' }, got ${describeValue(isPlainObject(format) ? type : format)}.`,
    );
  const keys: readonly string[] = KEYS[type];
  const unknown = Object.keys(format).find((key) => !keys.includes(key));
  const meant = unknown === undefined ? undefined : nearestName(unknown, keys);
  if (unknown !== undefined)
    throw refusal(
      `the key "${unknown}" is not known${meant === undefined ? '' : `; probably ${meant} is meant`}. With the type ${type}, the keys are ${keys.join(' and ')}.`,
    );
  if (type === 'json_schema' && format['schema'] === undefined) throw refusal('schema is missing.');
}

function refusal(message: string): TabServeError {
  return invalidInput(`params.responseFormat: ${message}`);
}

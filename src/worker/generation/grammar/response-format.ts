import { describeValue } from '../../../contract/describe-value.js';
import { TabServeError } from '../../../contract/errors.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { nearestName } from '../../../shared/nearest-name.js';
import type { Settings } from '../settings.js';
import { Automaton } from './automaton.js';
import { OBJECT } from './json.js';
import { schemaGrammar } from './json-schema.js';

/** What an answer must be: an object of JSON, or a value that fits a JSON Schema. */
export type ResponseFormat =
  | { readonly type: 'json_object' }
  | { readonly type: 'json_schema'; readonly schema: boolean | Readonly<Record<string, unknown>> };

/** The grammars of so many formats are kept. */
const MAX_FORMATS = 16;
/** A grammar of more states is made anew for the next answer. */
const MAX_STATES = 10_000;

/** The grammars of the formats that requests ask for. */
export class ResponseFormats {
  /** By their JSON; the most recently used last. */
  readonly #grammars = new Map<string, Automaton>();

  /** @throws `invalid-input` naming what is wrong or not supported */
  grammarOf(format: ResponseFormat): Automaton {
    checkFormat(format);
    const key = JSON.stringify(format);
    const known = this.#grammars.get(key);
    this.#grammars.delete(key);
    const grammar = known && known.size <= MAX_STATES ? known : new Automaton(grammarOf(format));
    this.#grammars.set(key, grammar);
    if (this.#grammars.size > MAX_FORMATS) this.#grammars.delete(this.#grammars.keys().next().value!);
    return grammar;
  }
}

/** @throws `invalid-input` by name for settings that contradict a format */
export function checkGuided({ stop, minNewTokens = 0, forcedBosTokenId, forcedEosTokenIds }: Settings): void {
  const wrong = Object.entries({
    stop: stop.length > 0,
    minNewTokens: minNewTokens > 0,
    forced_bos_token_id: forcedBosTokenId !== undefined,
    forced_eos_token_id: forcedEosTokenIds !== undefined,
  }).find(([, is]) => is);
  if (wrong) throw refusal(`it is not supported together with ${wrong[0]}, which could break the answer's JSON.`);
}

function grammarOf(format: ResponseFormat): ReturnType<typeof schemaGrammar> {
  return format.type === 'json_object' ? OBJECT : schemaGrammar(format.schema, 'params.responseFormat.schema');
}

function checkFormat(format: unknown): asserts format is ResponseFormat {
  const type = isPlainObject(format) ? format['type'] : undefined;
  if (!isPlainObject(format) || (type !== 'json_object' && type !== 'json_schema'))
    throw refusal(
      `expected { type: 'json_object' } or { type: 'json_schema', schema }, got ${describeValue(isPlainObject(format) ? type : format)}.`,
    );
  const keys = type === 'json_object' ? ['type'] : ['type', 'schema'];
  const unknown = Object.keys(format).find((key) => !keys.includes(key));
  const meant = unknown === undefined ? undefined : nearestName(unknown, keys);
  if (unknown !== undefined)
    throw refusal(
      `the key "${unknown}" is not known${meant === undefined ? '' : `; probably ${meant} is meant`}. With the type ${type}, the keys are ${keys.join(' and ')}.`,
    );
  if (type === 'json_schema' && format['schema'] === undefined) throw refusal('schema is missing.');
}

function refusal(message: string): TabServeError {
  return new TabServeError('invalid-input', `params.responseFormat: ${message}`);
}

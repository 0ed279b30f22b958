import { shorten } from '../../contract/describe-value.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import type { Yaml } from '../libraries/yaml.js';
import { MAX_CONFIG_DEPTH, whyTooMuch } from './config-limits.js';

/** The maximum number of characters. */
const MAX_LENGTH = 2 ** 19;
const MAX_ALIASES = 100;

/**
 * Parses YAML 1.2 with merge keys (`<<`), which TorchServe's configs may have. Aliases may repeat what they name, up to
 * 100 times and `MAX_VALUES` values; tags of other types than JSON's are refused, since no config needs them.
 * @param yaml the parser
 * @returns undefined if the text has nothing but comments
 * @throws `model-config` if it is not YAML, or hostile
 */
export function parseYaml(text: string, file: string, { CORE_SCHEMA, loadAll, mapTag, mergeTag }: Yaml): unknown {
  const wrong = (why: string, cause?: unknown): TabServeError =>
    new TabServeError('model-config', `${file} is not YAML that a config can be: ${why}`, { cause });
  if (text.length > MAX_LENGTH) throw wrong(`it has ${text.length} characters, and may have ${MAX_LENGTH}.`);
  // A key with a special meaning in JavaScript is refused too, because no config needs it.
  const addPair: typeof mapTag.addPair = (map, key, value) =>
    key === '__proto__' ? 'no key may be __proto__' : mapTag.addPair(map, key, value);
  const schema = CORE_SCHEMA.withTags(mergeTag, { ...mapTag, addPair });
  let documents: unknown[];
  try {
    documents = loadAll(text, { schema, maxDepth: MAX_CONFIG_DEPTH, maxAliases: MAX_ALIASES });
  } catch (cause) {
    throw wrong(describe(cause), cause);
  }
  const [config, ...others] = documents;
  if (others.length > 0) throw wrong(`it has ${documents.length} documents, and may have one.`);
  const why = whyTooMuch(config);
  if (why !== undefined) throw wrong(why);
  return config;
}

/** Returns what the parser reports, and where. The parser repeats the lines too, which may be long. */
function describe(cause: unknown): string {
  const { reason, mark } = cause as { readonly reason?: string; readonly mark?: { line: number; column: number } };
  const what = shorten(reason ?? messageOf(cause));
  return mark ? `${what} (line ${mark.line + 1}, column ${mark.column + 1})` : what;
}

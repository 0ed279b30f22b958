import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { MAX_METADATA_BYTES } from '../../contract/limits.js';
import { isRecord } from '../../shared/schema.js';
import { textOf, whileReading } from './read-blob.js';

/**
 * The maximum number of levels of nesting. Code that recurses over a deeper value, such as sending it to the page,
 * would overflow the stack.
 */
const MAX_DEPTH = 100;

/** Reads a text of an archive. @throws `model-format` if it has more than `maxBytes` */
export async function readText(blob: Blob, file: string, maxBytes: number): Promise<string> {
  if (blob.size <= maxBytes) return await whileReading(file, () => textOf(blob));
  throw new TabServeError('model-format', `${file} has ${blob.size} bytes; it may have at most ${maxBytes}.`);
}

/** Parses the text of a JSON file. @throws `model-format` if it is not JSON, or nested too deeply */
export function parseJson(text: string, file: string): unknown {
  if (isDeep(text)) throw new TabServeError('model-format', `${file} is nested more than ${MAX_DEPTH} levels deep.`);
  try {
    return parsePython(text);
  } catch (cause) {
    throw new TabServeError('model-format', `${file} is not JSON: ${(cause as Error).message}`, { cause });
  }
}

/** What Python's `json` writes of numbers that JSON does not have; and strings, which are left as they are. */
const NUMBERS = /"[^"\\]*(?:\\[^][^"\\]*)*"|\bNaN\b|\bInfinity\b/g;
/** Stands for NaN while JSON is parsed. No file has it. */
const NOT_A_NUMBER = '\u0000NaN';

/** Parses JSON, also with `NaN`, `Infinity` and `-Infinity`, as Python does. */
function parsePython(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const read = text.replace(NUMBERS, (found) =>
      found === 'Infinity' ? '1e999' : found === 'NaN' ? JSON.stringify(NOT_A_NUMBER) : found,
    );
    if (read === text) throw error;
    return JSON.parse(read, (_key, value: unknown) => (value === NOT_A_NUMBER ? NaN : value)) as unknown;
  }
}

/** Reads a JSON file with an object. @throws `model-format` if it is too large, not JSON, or not an object */
export async function readObject(blob: Blob, file: string): Promise<Record<string, unknown>> {
  const value = parseJson(await readText(blob, file, MAX_METADATA_BYTES), file);
  if (isRecord(value)) return value;
  throw new TabServeError('model-format', `${file} must be a mapping of keys to values, not ${describeValue(value)}.`);
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN, CLOSE] = [new Set([0x5b, 0x7b]), new Set([0x5d, 0x7d])];

/** Returns whether brackets outside of strings are nested too deeply, in one pass over the text. */
function isDeep(text: string): boolean {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isString && code === BACKSLASH) at++;
    else if (code === QUOTE) isString = !isString;
    else if (!isString && OPEN.has(code) && ++depth > MAX_DEPTH) return true;
    else if (!isString && CLOSE.has(code)) depth--;
  }
  return false;
}

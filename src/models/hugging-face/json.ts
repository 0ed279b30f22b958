import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { LARGEST_METADATA } from '../../contract/limits.js';
import { isRecord } from '../../shared/schema.js';
import { parseJson, readText } from '../json.js';

/** A JSON object of a repository: a config whose fields are not checked yet. */
export type Json = Readonly<Record<string, unknown>>;

/** Reads a JSON file of a repository. @throws `model-format` if it is too large, not JSON, or not an object */
export async function readObject(blob: Blob, file: string): Promise<Json> {
  const value = parseJson(await readText(blob, file, LARGEST_METADATA), file);
  if (isRecord(value)) return value;
  throw new TabServeError('model-format', `${file} must be a mapping of keys to values, not ${describeValue(value)}.`);
}

/** Returns the error for a field from which nothing can be derived. `advice` names the TabServe key to set. */
export function underivable(
  file: string,
  field: string,
  value: unknown,
  expected: string,
  advice: string,
): TabServeError {
  const given = value === undefined ? 'is missing' : `is ${describeValue(value)}`;
  return new TabServeError('model-config', `${file}: ${field} ${given}; expected ${expected}. ${advice}`);
}

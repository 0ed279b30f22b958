import type { Params } from '../../contract/handler.js';
import { isPlainObject } from '../../shared/is-plain-object.js';
import { badRequest } from '../serving-error.js';

/**
 * Returns the params of a request: the JSON object `params` in its query.
 * @throws `invalid-input` for anything else
 */
export function queryParams(query: URLSearchParams): Params {
  const [text, ...others] = query.getAll('params');
  if (text === undefined) return {};
  let params: unknown;
  try {
    params = JSON.parse(text);
  } catch {
    // The message below says what was expected.
  }
  if (isPlainObject(params) && others.length === 0) return params;
  throw badRequest('The query\'s params must be one JSON object, encoded by encodeURIComponent: {"topK":2}.');
}

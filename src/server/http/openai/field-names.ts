import { TabServeError } from '../../../contract/errors.js';
import { FieldError } from './request.js';

/** The fields that a request's params come from, by the param's name. */
export type FieldNames = ReadonlyMap<string, string>;

/** Returns an error of the handler about a param as one about the request's field; any other error as it is. */
export function inFieldNames(error: unknown, fields: FieldNames): unknown {
  if (!(error instanceof TabServeError && error.code === 'invalid-input') || error instanceof FieldError) return error;
  if (error.message.startsWith('tools: ')) return new FieldError('tools', error.message, error, 'invalid_value');
  const names = [...fields.keys()];
  const param =
    /\bparams\.(\w+)/.exec(error.message)?.[1] ??
    // Some messages name only params. A name of several words cannot be an ordinary word.
    names.find((name) => /[A-Z]/.test(name) && error.message.includes(name));
  const field = param === undefined ? undefined : fields.get(param);
  if (field === undefined) return error;
  let message = error.message.replace('params.responseFormat.schema', 'response_format.json_schema.schema');
  for (const name of names) message = message.replace(new RegExp(`\\b(params\\.)?${name}\\b`, 'g'), fields.get(name)!);
  return new FieldError(field, message, error, 'invalid_value');
}

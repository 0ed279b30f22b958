import type { Params } from '../../../contract/handler.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { checkKnown, wrongValue } from './request.js';

/** Returns the handler's param for a `response_format`. @throws `invalid-input` naming what is wrong */
export function responseFormatOf(format: unknown): Params {
  const type = isPlainObject(format) ? format['type'] : undefined;
  if (!isPlainObject(format) || (type !== 'text' && type !== 'json_object' && type !== 'json_schema'))
    throw wrongValue(
      'response_format',
      'an object with the type text, json_object or json_schema',
      isPlainObject(format) ? type : format,
    );
  checkKnown(format, type === 'json_schema' ? ['type', 'json_schema'] : ['type'], 'response_format.');
  if (type === 'text') return {};
  if (type === 'json_object') return { responseFormat: { type } };
  const { json_schema: given } = format;
  const path = 'response_format.json_schema';
  if (!isPlainObject(given) || given['schema'] === undefined) throw wrongValue(path, '{ name, schema }', given);
  // The answer fits the schema, with or without `strict`.
  checkKnown(given, ['name', 'description', 'schema', 'strict'], `${path}.`);
  const { name, schema } = given;
  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name))
    throw wrongValue(`${path}.name`, 'a name of up to 64 letters, digits, underscores and dashes', name);
  return { responseFormat: { type, schema } };
}

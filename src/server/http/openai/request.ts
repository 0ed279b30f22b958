/** A request of OpenAI's API, and what is wrong with it. */
import { describeValue } from '../../../contract/describe-value.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { ServingError } from '../../serving-error.js';

/** A body of JSON. A field that is null counts as missing, as in OpenAI's API. */
export type Body = Readonly<Record<string, unknown>>;

/** OpenAI's codes of what is wrong with a field. */
export type FieldCode =
  | 'unknown_parameter'
  | 'missing_required_parameter'
  | 'unsupported_value'
  | 'array_above_max_length'
  | 'invalid_value';

/** An error about one field of a request. OpenAI's errors name it as `param`. */
export class FieldError extends ServingError {
  constructor(
    readonly param: string,
    message: string,
    cause?: unknown,
    /** Null where OpenAI has none. */
    readonly fieldCode: FieldCode | null = null,
  ) {
    super('invalid-input', 400, 'BadRequestException', message, cause);
  }
}

/** Returns the error for a field, whose name its message begins with. */
export function wrongField(name: string, message: string, code: FieldCode = 'invalid_value'): FieldError {
  return new FieldError(name, `${name}: ${message}`, undefined, code);
}

/** Returns the error for a field that is not known. */
export function unknownField(name: string): FieldError {
  return wrongField(name, 'this field is not known here.', 'unknown_parameter');
}

/** Returns the error for a value. @param expected what the field takes */
export function wrongValue(name: string, expected: string, value: unknown): FieldError {
  if (value === undefined) return wrongField(name, `expected ${expected}, got nothing.`, 'missing_required_parameter');
  return wrongField(name, `expected ${expected}, got ${describeValue(value)}.`);
}

/** Returns the fields of a body that are not null. @throws `invalid-input` if it is no object */
export function fieldsOf(body: unknown): Body {
  if (!isPlainObject(body)) throw wrongValue('body', 'a JSON object', body);
  return withoutNull(body);
}

/** Returns the fields that are not null. */
export function withoutNull(fields: Body): Body {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

/** @throws `invalid-input` for a field that is not known. @param path where the fields are; '' for the body */
export function checkKnown(fields: Body, known: readonly string[], path = ''): void {
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown !== undefined) throw unknownField(path + unknown);
}

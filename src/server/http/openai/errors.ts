import { errorOf } from '../responses.js';
import { FieldError } from './request.js';

/** An error in OpenAI's form. */
export interface OpenAiError {
  /** The HTTP status. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** Returns an error in OpenAI's form. */
export function openAiError(error: unknown): OpenAiError {
  const { code: status, message, type: name, headers } = errorOf(error);
  const type = status === 408 || status >= 499 ? 'server_error' : 'invalid_request_error';
  const code = name === 'ModelNotFoundException' ? 'model_not_found' : null;
  const param = error instanceof FieldError ? error.param : null;
  return { status, headers, body: { error: { message, type, param, code } } };
}

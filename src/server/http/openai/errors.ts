import { TabServeError } from '../../../contract/errors.js';
import { badRequest } from '../../serving-error.js';
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
  // The model's config was checked when it was loaded: what is wrong is the request's param.
  const isOfParam = error instanceof TabServeError && error.code === 'model-config';
  const { code: status, message, type: name, headers } = errorOf(isOfParam ? badRequest(error.message) : error);
  const type = status === 408 || status >= 499 ? 'server_error' : 'invalid_request_error';
  const code = name === 'ModelNotFoundException' ? 'model_not_found' : null;
  const param = error instanceof FieldError ? error.param : null;
  return { status, headers, body: { error: { message, type, param, code } } };
}

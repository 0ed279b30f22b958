import { isTooLong } from '../../../shared/generated-text.js';
import type { ErrorType } from '../../serving-error.js';
import type { HttpResponse } from '../messages.js';
import { errorOf, jsonResponse } from '../responses.js';
import { FieldError } from './request.js';

/** The fields of an error's body. */
interface OpenAiErrorFields {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** An error in OpenAI's form. */
export interface OpenAiError {
  /** The HTTP status. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: OpenAiErrorFields };
}

/** OpenAI's codes, by TorchServe's names of errors. Clients compare them. */
const CODES: Readonly<Partial<Record<ErrorType, string>>> = {
  ModelNotFoundException: 'model_not_found',
  ResourceNotFoundException: 'unknown_url',
  MethodNotAllowedException: 'method_not_supported',
  InvalidKeyException: 'invalid_api_key',
};

/** Returns an error in OpenAI's form. A wrong key is 401 there. */
export function openAiError(error: unknown): OpenAiError {
  const { code, message, type: name, headers } = errorOf(error);
  const status = name === 'InvalidKeyException' ? 401 : code;
  const type = status === 408 || status >= 499 ? 'server_error' : 'invalid_request_error';
  const param = error instanceof FieldError ? error.param : null;
  return { status, headers, body: { error: { message, type, param, code: codeOf(error, name, message) } } };
}

function codeOf(error: unknown, name: ErrorType, message: string): string | null {
  if (name === 'BadRequestException' && isTooLong(message)) return 'context_length_exceeded';
  return error instanceof FieldError ? error.fieldCode : (CODES[name] ?? null);
}

/** Returns the response for an error, with OpenAI's body. */
export function openAiResponse(error: unknown): HttpResponse {
  const { status, headers, body } = openAiError(error);
  return jsonResponse(body, status, headers);
}

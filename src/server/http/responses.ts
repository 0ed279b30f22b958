import { asTabServeError, type ErrorCode, type TabServeError } from '../../contract/errors.js';
import { ServingError, type ErrorType } from '../serving-error.js';
import type { HttpResponse } from './messages.js';

/** The statuses and TorchServe's names of errors that come from a client, by their code. Every other one is 500. */
const STATUS: Readonly<Partial<Record<ErrorCode, readonly [status: number, type: ErrorType]>>> = {
  'invalid-input': [400, 'BadRequestException'],
  'image-decode': [400, 'BadRequestException'],
  'image-too-large': [400, 'BadRequestException'],
  'not-cloneable': [400, 'BadRequestException'],
  // The request may be right, and another server or the device may answer it.
  unsupported: [501, 'InternalServerException'],
  // Nobody waits for the answer, so its status does not matter. Proxies log 499.
  aborted: [499, 'RequestTimeoutException'],
  timeout: [408, 'RequestTimeoutException'],
  'queue-full': [503, 'ServiceUnavailableException'],
  'not-initialized': [503, 'ServiceUnavailableException'],
  disposed: [503, 'ServiceUnavailableException'],
  'worker-lost': [503, 'ServiceUnavailableException'],
  'device-lost': [503, 'ServiceUnavailableException'],
  'no-backend': [503, 'ServiceUnavailableException'],
  'out-of-memory': [507, 'OutOfMemoryError'],
};

/** An error in TorchServe's form. */
export interface HttpError {
  /** The HTTP status. */
  readonly code: number;
  readonly type: ErrorType;
  readonly message: string;
  /** Headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns an error in TorchServe's form. */
export function errorOf(error: unknown): HttpError {
  const own: TabServeError = asTabServeError(error);
  const isServing = own instanceof ServingError;
  const [code, type] = isServing
    ? [own.status, own.type]
    : (STATUS[own.code] ?? ([500, 'InternalServerException'] as const));
  // After 503, the same request may succeed if it is sent again.
  const headers = code === 503 ? { 'Retry-After': '1' } : isServing ? own.headers : {};
  return { code, type, message: own.message, headers };
}

/** An answer is never valid later. TorchServe's header. */
const NO_STORE = { 'Cache-Control': 'no-cache, no-store, must-revalidate, private' };

/** Returns the response for an error, with TorchServe's body. */
export function errorResponse({ code, type, message, headers }: HttpError): HttpResponse {
  return jsonResponse({ code, type, message }, code, headers);
}

/** Returns the response for an error, with the body of KServe's protocols: v1, and v2, the Open Inference Protocol. */
export function protocolErrorResponse({ code, message, headers }: HttpError): HttpResponse {
  return jsonResponse({ error: message }, code, headers);
}

/** Returns a response with a value as JSON. */
export function jsonResponse(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  return response(JSON.stringify(value), 'application/json', status, headers);
}

/** Returns a response without a body. */
export function emptyResponse(): HttpResponse {
  return { status: 200, headers: new Headers({ ...NO_STORE, 'Content-Length': '0' }), body: null };
}

const encoder = new TextEncoder();

/** Returns a response that nobody caches, and that says how long it is, unless it comes in parts. */
export function response(
  body: string | NonNullable<HttpResponse['body']>,
  type: string,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const whole = typeof body === 'string' ? encoder.encode(body) : body;
  const size = whole instanceof Blob ? whole.size : 'byteLength' in whole ? whole.byteLength : undefined;
  const all = new Headers({ 'Content-Type': type, ...NO_STORE, ...headers });
  if (size !== undefined) all.set('Content-Length', String(size));
  return { status, headers: all, body: whole };
}

import { shorten } from '../contract/describe-value.js';
import { TabServeError, type ErrorCode } from '../contract/errors.js';

/** The names that TorchServe's error bodies have as `type`. */
export type ErrorType =
  | 'BadRequestException'
  | 'InvalidKeyException'
  | 'ModelNotFoundException'
  | 'ModelVersionNotFoundException'
  | 'WorkflowNotFoundException'
  | 'InvalidModelVersionException'
  | 'ResourceNotFoundException'
  | 'MethodNotAllowedException'
  | 'ConflictStatusException'
  | 'RequestTimeoutException'
  | 'RequestEntityTooLargeException'
  | 'DownloadArchiveException'
  | 'InternalServerException'
  | 'ServiceUnavailableException'
  | 'OutOfMemoryError';

/**
 * An error of the server itself, such as a model that is not registered. It knows its HTTP status and TorchServe's name
 * for it.
 */
export class ServingError extends TabServeError {
  constructor(
    code: ErrorCode,
    readonly status: number,
    readonly type: ErrorType,
    message: string,
    cause?: unknown,
    /** Headers of the answer. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(code, message, { cause });
  }
}

/** Returns the error for a request that cannot be read. */
export function badRequest(message: string, cause?: unknown): ServingError {
  return new ServingError('invalid-input', 400, 'BadRequestException', message, cause);
}

/** Returns the error for a request whose body is encoded in a way that is not read. */
export function unsupportedType(message: string, cause?: unknown): ServingError {
  return new ServingError('invalid-input', 415, 'BadRequestException', message, cause);
}

/** Returns the error for a name that no model is registered under. TorchServe's text. */
export function modelNotFound(name: string): ServingError {
  return new ServingError('model-not-found', 404, 'ModelNotFoundException', `Model not found: ${shorten(name)}`);
}

/** Returns the error for a version that is not registered. TorchServe's text. */
export function versionNotFound(name: string, version: string): ServingError {
  const message = `Model version: ${shorten(version)} does not exist for model: ${shorten(name)}`;
  return new ServingError('model-not-found', 404, 'ModelVersionNotFoundException', message);
}

/** Returns the error for a model, a version or a server that takes no requests now. */
export function unavailable(message: string): ServingError {
  return new ServingError('not-initialized', 503, 'ServiceUnavailableException', message);
}

/** Returns the error for a server that has been disposed of. */
export function serverDisposed(): ServingError {
  return new ServingError('disposed', 503, 'ServiceUnavailableException', 'The server has been disposed of.');
}

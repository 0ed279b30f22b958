/** Errors as data that a structured clone can carry, and back. */
import {
  asTabServeError,
  describeThrown,
  ERROR_CODES,
  messageOf,
  PredictionError,
  TabServeError,
  type ErrorCode,
  type ErrorStage,
} from './errors.js';
import type { Precision } from './precisions.js';
import type { Envelope } from './wire.js';

/** An error as data. */
export interface ErrorData {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly code?: unknown;
  readonly stage?: ErrorStage | undefined;
  readonly node?: string | undefined;
  readonly precision?: Precision | undefined;
  readonly cause?: ErrorData | { readonly value: unknown } | undefined;
}

/** Converts an error, and its chain of causes, to data that a structured clone can carry. */
export function errorToData(error: unknown, depth = 8): ErrorData {
  if (!(error instanceof Error)) return { name: 'Error', message: describeThrown(error) };
  const { name, stack, code, cause } = error as { [Key in 'name' | 'stack' | 'code' | 'cause']?: unknown };
  return {
    name:
      error instanceof PredictionError
        ? 'PredictionError'
        : error instanceof TabServeError
          ? 'TabServeError'
          : typeof name === 'string'
            ? name
            : 'Error',
    message: messageOf(error),
    stack: typeof stack === 'string' ? stack : undefined,
    code: typeof code === 'string' || typeof code === 'number' ? code : undefined,
    stage: error instanceof TabServeError ? error.stage : undefined,
    node: error instanceof TabServeError ? error.node : undefined,
    precision: error instanceof TabServeError ? error.precision : undefined,
    cause:
      cause === undefined || depth === 0
        ? undefined
        : cause instanceof Error
          ? errorToData(cause, depth - 1)
          : { value: describeThrown(cause) },
  };
}

/**
 * Restores an error from data: a `TabServeError` as one, any other as an `Error` of the same name, message, stack, code
 * and cause. A `TabServeError` whose code is not in the table becomes a `handler-failed`, as any other error of a
 * handler's does.
 */
export function errorFromData(data: ErrorData): Error {
  if (typeof data?.message !== 'string')
    return new TabServeError('worker-failed', 'The worker sent an error that cannot be read.');
  const cause =
    typeof data.cause !== 'object' || data.cause === null
      ? data.cause
      : 'value' in data.cause
        ? data.cause.value
        : errorFromData(data.cause);
  const ours =
    data.name === 'PredictionError' ? PredictionError : data.name === 'TabServeError' ? TabServeError : undefined;
  const error = ours
    ? restored(ours, data, cause)
    : Object.assign(
        new Error(data.message, cause === undefined ? undefined : { cause }),
        data.code === undefined ? {} : { code: data.code },
      );
  if (!ours) Object.defineProperty(error, 'name', { value: data.name, configurable: true, writable: true });
  if (data.stack) error.stack = data.stack;
  return error;
}

function restored(
  Class: typeof TabServeError,
  { code, message, stage, node, precision }: ErrorData,
  cause: unknown,
): TabServeError {
  const options = { cause, stage, node, precision };
  if (isErrorCode(code)) return new Class(code, message, options);
  const unknown = typeof code === 'string' ? `the unknown error code "${code}"` : 'no error code';
  return new Class('handler-failed', `${message} (The worker sent ${unknown}.)`, options);
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERROR_CODES, code);
}

/** Returns what `work` returns, or its error as data. @param stage of an error that names none */
export async function envelope<T>(work: () => Promise<T>, stage?: ErrorStage): Promise<Envelope<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error: errorToData(asTabServeError(error, stage)) };
  }
}

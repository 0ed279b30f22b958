/**
 * One family of errors. Codes are stable; an error crosses the worker's border whole, as data. Imports nothing.
 */

export type ErrorCode =
  /** A file of the archive could not be downloaded. */
  | 'network'
  /** The model, or a file that it needs, is not there (404, or a page of HTML instead). */
  | 'model-not-found'
  /** The file is not a model, or is damaged. */
  | 'model-format'
  /** The archive's config, or an option, has a wrong value; the message names the key. */
  | 'model-config'
  /** No handler of that name. */
  | 'unknown-handler'
  /** A backend could not be opened. */
  | 'backend-failed'
  /** A backend computes wrongly: its outputs are not what they must be; the message has the measured error. */
  | 'backend-wrong'
  /** No backend is left; `cause` says why of the last, the message of all. */
  | 'no-backend'
  /** What was passed does not fit: dims, dtype, an empty batch, an unusable image source. */
  | 'invalid-input'
  /** The bytes are not an image that this browser can decode. */
  | 'image-decode'
  /** The image has more pixels than allowed. */
  | 'image-too-large'
  /** The engine could not run the model on this input. */
  | 'inference-failed'
  /** A stage of a handler threw. */
  | 'handler-failed'
  /** A stage returned another number of results than it got rows. */
  | 'batch-contract'
  /** A result cannot be sent to the page. */
  | 'not-cloneable'
  /** Called before `initialize`. */
  | 'not-initialized'
  /** Called after `dispose`. */
  | 'disposed'
  /** The caller aborted; `cause` is the signal's reason. */
  | 'aborted'
  /** The request's own `timeout` has passed. */
  | 'timeout'
  /** As many requests wait as may (`jobQueueSize`). */
  | 'queue-full'
  /** The worker never said that it is there. */
  | 'worker-failed'
  /** The worker died with the request in it; the same request may succeed when sent again. */
  | 'worker-lost'
  /** The GPU was lost. */
  | 'device-lost'
  | 'out-of-memory'
  /** Not possible here, by design. */
  | 'unsupported';

/** Where an error arose. */
export type ErrorStage = 'load' | 'initialize' | 'preprocess' | 'inference' | 'postprocess';

export interface ErrorOptions {
  readonly cause?: unknown;
  readonly stage?: ErrorStage | undefined;
}

/** What everything here throws and rejects with. */
export class TabServeError extends Error {
  override readonly name: string = 'TabServeError';
  readonly code: ErrorCode;
  /** The stage that it arose in, where it arose in one. */
  readonly stage: ErrorStage | undefined;

  constructor(code: ErrorCode, message: string, { cause, stage }: ErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.stage = stage;
  }

  /** Whether the same call may succeed when made again. */
  get retriable(): boolean {
    return this.code === 'worker-lost' || this.code === 'device-lost' || this.code === 'network' || this.code === 'queue-full';
  }
}

/** One row failed, and no other: found in its place among the results of `handle`. */
export class PredictionError extends TabServeError {
  override readonly name = 'PredictionError';

  /** Any error as a row's failure. One of ours keeps its code and stage; another becomes the cause of a `handler-failed`. */
  static from(error: unknown): PredictionError {
    if (error instanceof PredictionError) return error;
    const { code, message, stage, cause } = asTabServeError(error);
    return new PredictionError(code, message, { stage, cause });
  }
}

/** Any thrown value as one of our errors: ours as it is (with `stage`, where it had none), another as the cause of a `handler-failed`. */
export function asTabServeError(error: unknown, stage?: ErrorStage): TabServeError {
  if (error instanceof TabServeError) {
    if (error.stage !== undefined || stage === undefined) return error;
    const Class = error instanceof PredictionError ? PredictionError : TabServeError;
    const staged = new Class(error.code, error.message, { cause: error.cause, stage });
    if (error.stack) staged.stack = error.stack;
    return staged;
  }
  return new TabServeError('handler-failed', error instanceof Error ? error.message : String(error), { cause: error, stage });
}

// ── The wire ───────────────────────────────────────────────────────────────────────────────────

/** An error as data. */
export interface ErrorData {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly code?: unknown;
  readonly stage?: ErrorStage | undefined;
  readonly cause?: ErrorData | { readonly value: unknown } | undefined;
}

/** An error as data that a structured clone can carry, its chain of causes included. */
export function errorToData(error: unknown, depth = 8): ErrorData {
  if (!(error instanceof Error)) return { name: 'Error', message: describe(error) };
  const { code, stage } = error as Partial<TabServeError>;
  return {
    name: error instanceof PredictionError ? 'PredictionError' : error instanceof TabServeError ? 'TabServeError' : error.name,
    message: error.message,
    stack: error.stack,
    code: typeof code === 'string' || typeof code === 'number' ? code : undefined,
    stage,
    cause: error.cause === undefined || depth === 0 ? undefined : error.cause instanceof Error ? errorToData(error.cause, depth - 1) : { value: describe(error.cause) },
  };
}

/** The error again: ours as ours, another as an `Error` of the same name, message, stack, code and cause. */
export function errorFromData(data: ErrorData): Error {
  const cause = data.cause === undefined ? undefined : 'value' in data.cause ? data.cause.value : errorFromData(data.cause);
  const ours = data.name === 'PredictionError' ? PredictionError : data.name === 'TabServeError' ? TabServeError : undefined;
  const error = ours
    ? new ours(data.code as ErrorCode, data.message, { cause, stage: data.stage })
    : Object.assign(new Error(data.message, cause === undefined ? undefined : { cause }), data.code === undefined ? {} : { code: data.code });
  if (!ours) Object.defineProperty(error, 'name', { value: data.name, configurable: true, writable: true });
  if (data.stack) error.stack = data.stack;
  return error;
}

function describe(value: unknown): string {
  try {
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

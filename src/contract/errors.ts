/**
 * The errors of this package, each with a stable code.
 */

/** What an error blames: what must change before the same call can succeed. */
export type Blame = 'row' | 'handler' | 'archive' | 'backend' | 'worker' | 'app';

interface ErrorCodeInfo {
  /** What happened, for the docs. */
  readonly meaning: string;
  /** Whether the same call may succeed if it is made again. */
  readonly retriable: boolean;
  /**
   * - `row`: one input of the batch; the other rows are unaffected.
   * - `handler`: the handler class's code.
   * - `archive`: the model, its config or its files; every backend fails in the same way.
   * - `backend`: this engine on this backend; another candidate may work.
   * - `worker`: the worker or its GPU was lost; another worker may work.
   * - `app`: the call itself, or the app's own worker script.
   */
  readonly blames: Blame;
}

/** Every error code: the only place that says what a code means, whether to retry, and what it blames. */
export const ERROR_CODES = {
  network: { meaning: 'A file of the archive could not be downloaded.', retriable: true, blames: 'archive' },
  'model-not-found': {
    meaning:
      'The model, or a file that it needs, is missing: the server answered 404 or a page of HTML, or a picked file has changed since.',
    retriable: false,
    blames: 'archive',
  },
  'model-format': { meaning: 'The file is not a model, or it is damaged.', retriable: false, blames: 'archive' },
  'model-config': {
    meaning: "The archive's config, or an option, has a wrong value; the message names the key.",
    retriable: false,
    blames: 'archive',
  },
  'unknown-handler': { meaning: 'No handler has that name.', retriable: false, blames: 'archive' },
  'backend-failed': { meaning: 'A backend could not be opened.', retriable: false, blames: 'backend' },
  'backend-wrong': {
    meaning: 'A backend computes wrong outputs; the message has the measured error.',
    retriable: false,
    blames: 'backend',
  },
  'no-backend': {
    meaning: 'Every backend failed or was skipped; the message gives each reason, and `cause` is the last failure.',
    retriable: false,
    blames: 'backend',
  },
  'invalid-input': {
    meaning:
      'The input is invalid: its dims or dtype, an empty batch, an unusable image source, or a wrong option of the call; or the image of a URL cannot be downloaded.',
    retriable: false,
    blames: 'row',
  },
  'image-decode': {
    meaning: 'The bytes are not an image that this browser can decode.',
    retriable: false,
    blames: 'row',
  },
  'image-too-large': { meaning: 'The image has more pixels than allowed.', retriable: false, blames: 'row' },
  'inference-failed': { meaning: 'The engine could not run the model on this input.', retriable: false, blames: 'row' },
  'handler-failed': { meaning: 'A stage of a handler threw.', retriable: false, blames: 'handler' },
  'batch-contract': {
    meaning: 'A stage did not return one result per row.',
    retriable: false,
    blames: 'handler',
  },
  'not-cloneable': {
    meaning: 'An input cannot be sent to the worker, or a result cannot be sent to the page.',
    retriable: false,
    blames: 'row',
  },
  'not-initialized': { meaning: 'A call came before `initialize`.', retriable: false, blames: 'app' },
  disposed: { meaning: 'A call came after `dispose`.', retriable: false, blames: 'app' },
  aborted: { meaning: "The caller aborted; `cause` is the signal's reason.", retriable: false, blames: 'app' },
  timeout: { meaning: "The request's `timeout` passed before its answer.", retriable: false, blames: 'app' },
  'queue-full': {
    meaning: 'The queue already holds `jobQueueSize` requests.',
    retriable: true,
    blames: 'app',
  },
  'worker-failed': {
    meaning: "The worker's script could not be loaded, or did not report that it is ready.",
    retriable: false,
    blames: 'app',
  },
  'worker-lost': { meaning: 'The worker ended while it ran the request.', retriable: true, blames: 'worker' },
  'device-lost': { meaning: 'The GPU was lost.', retriable: true, blames: 'worker' },
  'out-of-memory': { meaning: 'The engine, or the page, ran out of memory.', retriable: false, blames: 'worker' },
  unsupported: { meaning: 'Not supported here, by design.', retriable: false, blames: 'archive' },
} as const satisfies Readonly<Record<string, ErrorCodeInfo>>;

/** What kind of error a `TabServeError` is; `docs/errors.md` says what each means. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Returns what an error blames; undefined for a code that this version does not know. */
export function blameOf(code: ErrorCode): Blame | undefined {
  return Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code].blames : undefined;
}

/** The stage in which an error occurred. */
export type ErrorStage = 'load' | 'initialize' | 'preprocess' | 'inference' | 'postprocess';

export interface ErrorOptions {
  readonly cause?: unknown;
  readonly stage?: ErrorStage | undefined;
}

/** Every error that this package throws or rejects with. */
export class TabServeError extends Error {
  override readonly name: string = 'TabServeError';
  readonly code: ErrorCode;
  /** The stage in which it occurred, if it occurred in one. */
  readonly stage: ErrorStage | undefined;

  constructor(code: ErrorCode, message: string, { cause, stage }: ErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.stage = stage;
  }

  /** Whether the same call may succeed if it is made again. */
  get retriable(): boolean {
    return Object.hasOwn(ERROR_CODES, this.code) && ERROR_CODES[this.code].retriable;
  }
}

/** The failure of one row. It takes the row's place among the results of `handle`; other rows are unaffected. */
export class PredictionError extends TabServeError {
  override readonly name = 'PredictionError';

  /** Converts any error to a row's failure. A `TabServeError` keeps its code and stage; any other becomes the cause of a `handler-failed`. */
  static from(error: unknown): PredictionError {
    if (isError(error) && error instanceof PredictionError) return error;
    const { code, message, stage, cause } = asTabServeError(error);
    return new PredictionError(code, message, { stage, cause });
  }
}

/** Converts any thrown value to a `TabServeError`. One of ours is returned as it is, with `stage` if it had none; any other becomes the cause of a `handler-failed`. */
export function asTabServeError(error: unknown, stage?: ErrorStage): TabServeError {
  if (isError(error) && error instanceof TabServeError) {
    if (error.stage !== undefined || stage === undefined) return error;
    const Class = error instanceof PredictionError ? PredictionError : TabServeError;
    const staged = new Class(error.code, error.message, { cause: error.cause, stage });
    if (error.stack) staged.stack = error.stack;
    return staged;
  }
  return new TabServeError('handler-failed', isError(error) ? messageOf(error) : describeThrown(error), {
    cause: error,
    stage,
  });
}

/** Returns whether a value is an error. A proxy that throws when it is inspected is not. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

/** Returns an error's message. Errors of other libraries may have a message that is not a string, or that throws when it is read. */
export function messageOf(error: Error): string {
  try {
    return typeof error.message === 'string' ? error.message : describeThrown(error.message);
  } catch {
    return 'An error whose message cannot be read.';
  }
}

/** Describes any thrown value as text. Never throws, whatever the value's own methods do. */
export function describeThrown(value: unknown): string {
  const ways = [
    () => (typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)),
    () => Object.prototype.toString.call(value),
  ];
  for (const way of ways) {
    try {
      const text: unknown = way();
      if (typeof text === 'string') return text;
    } catch {
      // Try the next way.
    }
  }
  return `A value of type ${typeof value} that cannot be shown.`;
}

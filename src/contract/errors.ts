/**
 * One family of errors with stable codes.
 */

/** Whose fault an error is: who must change something before the same call can succeed. */
export type Blame = 'row' | 'handler' | 'archive' | 'backend' | 'worker' | 'app';

interface ErrorCodeInfo {
  /** What has happened, for the docs. */
  readonly meaning: string;
  /** Whether the same call may succeed when it is made again. */
  readonly retriable: boolean;
  /**
   * - `row`: one input of the batch; the other rows are unaffected.
   * - `handler`: the handler class's code.
   * - `archive`: the model, its config or its files; every backend fails alike.
   * - `backend`: this engine on this backend; another candidate may do.
   * - `worker`: the worker or its GPU died; another worker may do.
   * - `app`: the call itself, or the app's own worker script.
   */
  readonly blames: Blame;
}

/** Every error code: the only place that says what one means, whether to retry, and whom it blames. */
export const ERROR_CODES = {
  network: { meaning: 'A file of the archive could not be downloaded.', retriable: true, blames: 'archive' },
  'model-not-found': {
    meaning: 'The model, or a file that it needs, is missing: the server answered 404 or a page of HTML.',
    retriable: false,
    blames: 'archive',
  },
  'model-format': { meaning: 'The file is not a model, or is damaged.', retriable: false, blames: 'archive' },
  'model-config': {
    meaning: "The archive's config, or an option, has a wrong value; the message names the key.",
    retriable: false,
    blames: 'archive',
  },
  'unknown-handler': { meaning: 'No handler has that name.', retriable: false, blames: 'archive' },
  'backend-failed': { meaning: 'A backend could not be opened.', retriable: false, blames: 'backend' },
  'backend-wrong': {
    meaning: 'A backend computes wrongly; the message has the measured error.',
    retriable: false,
    blames: 'backend',
  },
  'no-backend': {
    meaning: 'No backend is left; the message says why each was skipped, `cause` is the last failure.',
    retriable: false,
    blames: 'backend',
  },
  'invalid-input': {
    meaning:
      'The input does not fit: dims, dtype, an empty batch, an unusable image source, a wrong option of a call; or the image of a URL cannot be downloaded.',
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
    meaning: 'A stage returned another number of results than it got rows.',
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
  timeout: { meaning: "The request's own `timeout` has passed.", retriable: false, blames: 'app' },
  'queue-full': {
    meaning: 'As many requests wait as `jobQueueSize` allows.',
    retriable: true,
    blames: 'app',
  },
  'worker-failed': {
    meaning: "The worker's script could not be loaded, or never said that it is ready.",
    retriable: false,
    blames: 'app',
  },
  'worker-lost': { meaning: 'The worker died with the request in it.', retriable: true, blames: 'worker' },
  'device-lost': { meaning: 'The GPU was lost.', retriable: true, blames: 'worker' },
  'out-of-memory': { meaning: 'The engine, or the page, ran out of memory.', retriable: false, blames: 'worker' },
  unsupported: { meaning: 'Not possible here, by design.', retriable: false, blames: 'archive' },
} as const satisfies Readonly<Record<string, ErrorCodeInfo>>;

/** What kind of error a `TabServeError` is; `docs/errors.md` says what each means. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Whom an error blames; undefined for a code that this version does not know. */
export function blameOf(code: ErrorCode): Blame | undefined {
  return Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code].blames : undefined;
}

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
    return Object.hasOwn(ERROR_CODES, this.code) && ERROR_CODES[this.code].retriable;
  }
}

/** One row failed, and no other: found in its place among the results of `handle`. */
export class PredictionError extends TabServeError {
  override readonly name = 'PredictionError';

  /** Any error as a row's failure. One of ours keeps its code and stage; another becomes the cause of a `handler-failed`. */
  static from(error: unknown): PredictionError {
    if (isError(error) && error instanceof PredictionError) return error;
    const { code, message, stage, cause } = asTabServeError(error);
    return new PredictionError(code, message, { stage, cause });
  }
}

/** Any thrown value as one of our errors: ours as it is (with `stage`, where it had none), another as the cause of a `handler-failed`. */
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

/** Whether a value is an error. A proxy that refuses to be asked is none. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

/** The message of an error. An error of someone else's may have a message that is no string, or that throws when it is read. */
export function messageOf(error: Error): string {
  try {
    return typeof error.message === 'string' ? error.message : describeThrown(error.message);
  } catch {
    return 'An error whose message cannot be read.';
  }
}

/** Any value in words. Never throws, whatever the value's own methods do. */
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
      // The next way.
    }
  }
  return `A value of type ${typeof value} that cannot be shown.`;
}

/**
 * The errors of this package, each with a stable code.
 */
import type { Precision } from './precisions.js';

/** What an error blames: what must change before the same call can succeed. */
export type Blame = 'row' | 'handler' | 'archive' | 'backend' | 'worker' | 'app';

interface ErrorCodeInfo {
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

/**
 * Every error code: the only place that says whether to retry, and what it blames. `error-meanings.ts` has the texts
 * for the docs, which no app needs.
 */
export const ERROR_CODES = {
  network: { retriable: true, blames: 'archive' },
  'model-not-found': { retriable: false, blames: 'archive' },
  'model-format': { retriable: false, blames: 'archive' },
  'model-config': { retriable: false, blames: 'archive' },
  'unknown-handler': { retriable: false, blames: 'archive' },
  'backend-failed': { retriable: false, blames: 'backend' },
  'backend-wrong': { retriable: false, blames: 'backend' },
  'no-backend': { retriable: false, blames: 'backend' },
  'invalid-input': { retriable: false, blames: 'row' },
  'image-decode': { retriable: false, blames: 'row' },
  'image-too-large': { retriable: false, blames: 'row' },
  'inference-failed': { retriable: false, blames: 'row' },
  'state-lost': { retriable: true, blames: 'row' },
  'handler-failed': { retriable: false, blames: 'handler' },
  'batch-contract': { retriable: false, blames: 'handler' },
  'not-cloneable': { retriable: false, blames: 'row' },
  'not-initialized': { retriable: false, blames: 'app' },
  disposed: { retriable: false, blames: 'app' },
  aborted: { retriable: false, blames: 'app' },
  timeout: { retriable: false, blames: 'app' },
  'queue-full': { retriable: true, blames: 'app' },
  'worker-failed': { retriable: false, blames: 'app' },
  'worker-lost': { retriable: true, blames: 'worker' },
  'device-lost': { retriable: true, blames: 'worker' },
  'out-of-memory': { retriable: false, blames: 'worker' },
  unsupported: { retriable: false, blames: 'archive' },
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
  readonly node?: string | undefined;
  readonly precision?: Precision | undefined;
}

/** The key under which a class of errors has its name, in every copy of this package. */
const BRAND = Symbol.for('tabserve.error');

/**
 * Every error that this package throws or rejects with. `instanceof` also recognizes the errors of another copy of this
 * package in the same page, such as the standalone build's, or another version's.
 */
export class TabServeError extends Error {
  static readonly [BRAND]: string = 'TabServeError';
  override readonly name: string = 'TabServeError';
  readonly code: ErrorCode;
  /** The stage in which it occurred, if it occurred in one. */
  readonly stage: ErrorStage | undefined;
  /**
   * The node of a workflow in which it occurred, such as `detect`, or `reader/detect` for a workflow in a workflow;
   * undefined outside of a node.
   */
  readonly node: string | undefined;
  /** The precision of the model whose file cannot be used, where the model is there in several. */
  readonly precision: Precision | undefined;

  constructor(code: ErrorCode, message: string, { cause, stage, node, precision }: ErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.stage = stage;
    this.node = node;
    this.precision = precision;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // Only the classes of this file have a name under that key, not those that extend them elsewhere.
    if (!Object.hasOwn(this, BRAND)) return Function.prototype[Symbol.hasInstance].call(this, value);
    let Class: unknown = isError(value) && value.constructor;
    for (; Class; Class = Object.getPrototypeOf(Class))
      if ((Class as typeof TabServeError)[BRAND] === this[BRAND]) return true;
    return false;
  }

  /** Whether the same call may succeed if it is made again. */
  get retriable(): boolean {
    return Object.hasOwn(ERROR_CODES, this.code) && ERROR_CODES[this.code].retriable;
  }
}

/** The failure of one row. It replaces the row's result in the results of `handle`; other rows are unaffected. */
export class PredictionError extends TabServeError {
  static override readonly [BRAND] = 'PredictionError';
  override readonly name = 'PredictionError';

  /**
   * Converts any error to a row's failure. A `TabServeError` keeps its code and stage; any other becomes the cause of a
   * `handler-failed`.
   */
  static from(error: unknown): PredictionError {
    if (error instanceof PredictionError) return error;
    const { code, message, stage, cause, node } = asTabServeError(error);
    return new PredictionError(code, message, { stage, cause, node });
  }
}

/** Returns the error for an input, or an option of a call, that is wrong. */
export function invalidInput(message: string, cause?: unknown): TabServeError {
  return new TabServeError('invalid-input', message, { cause });
}

/**
 * Converts any thrown value to a `TabServeError`. One of ours is returned as it is, with `stage` if it had none; any
 * other becomes the cause of a `handler-failed`.
 */
export function asTabServeError(error: unknown, stage?: ErrorStage): TabServeError {
  if (error instanceof TabServeError) {
    if (error.stage !== undefined || stage === undefined) return error;
    return changed(error, { stage });
  }
  return new TabServeError('handler-failed', messageOf(error), {
    cause: error,
    stage,
  });
}

/** Returns a copy of an error of ours with some of its properties changed. */
function changed(error: TabServeError, changes: ErrorOptions & { readonly message?: string }): TabServeError {
  const { code, message, cause, stage, node, precision, stack } = error;
  const Class = error instanceof PredictionError ? PredictionError : TabServeError;
  const copy = new Class(code, changes.message ?? message, { cause, stage, node, precision, ...changes });
  if (stack) copy.stack = stack;
  return copy;
}

/**
 * Returns the error of a node as that of its workflow: `node` and the message name it. The node of a node is named by
 * its path, such as `reader/detect`.
 */
export function atNode(error: unknown, node: string): TabServeError {
  const own = asTabServeError(error);
  const path = own.node === undefined ? node : `${node}/${own.node}`;
  const before = own.node === undefined ? '' : prefixOf(own.node);
  const text = own.message.startsWith(before) ? own.message.slice(before.length) : own.message;
  return changed(own, { node: path, message: prefixOf(path) + text });
}

function prefixOf(node: string): string {
  return `Node "${node}": `;
}

/** Returns whether a value is an error. */
export function isError(value: unknown): value is Error {
  return value instanceof Error;
}

/**
 * Returns an error's message, and a description of any other thrown value. Errors of other libraries may have a message
 * that is not a string.
 */
export function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return describeThrown(thrown);
  const message: unknown = thrown.message;
  return typeof message === 'string' ? message : describeThrown(message);
}

/** Describes any thrown value as text. */
export function describeThrown(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const tag = Object.prototype.toString.call(value);
  try {
    return describeException(value, tag) ?? JSON.stringify(value) ?? tag;
  } catch {
    // The value contains itself, or a bigint.
    return tag;
  }
}

/**
 * Returns name and message of an `Exception` of Firefox; undefined for anything else. It is no `Error`, and has no
 * properties of its own for JSON.
 */
function describeException(value: object, tag: string): string | undefined {
  if (tag !== '[object Exception]') return undefined;
  const { name, message } = value as { readonly name?: unknown; readonly message?: unknown };
  return [name, message].filter((part) => typeof part === 'string' && part !== '').join(': ') || undefined;
}

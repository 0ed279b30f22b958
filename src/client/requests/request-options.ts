import { messageOf, TabServeError } from '../../contract/errors.js';
import type { Params } from '../../contract/handler.js';
import { REQUEST_SETTINGS, resolveSettings } from '../../contract/settings.js';
import { describeValue } from '../../contract/describe-value.js';
import { readCallOptions } from '../../shared/read-options.js';
import type { InitializeOptions, RequestOptions } from '../options.js';

/** The options of one request, checked, with their defaults. */
export interface CheckedOptions {
  readonly signal: AbortSignal | undefined;
  /** Milliseconds. */
  readonly timeout: number | undefined;
  readonly priority: number;
  /** A copy: what the caller does to its own afterwards changes nothing. */
  readonly params: Params;
  readonly transfer: boolean;
}

const REQUEST_OPTIONS = ['signal', 'timeout', 'priority', 'transfer', 'params'] as const;

/** Checks the options of a request. @throws `invalid-input` naming the option; `not-cloneable` for params that cannot be sent */
export function readRequestOptions(options: RequestOptions): CheckedOptions {
  const read = readCallOptions(options, 'a request', REQUEST_OPTIONS, ' Keys of the config go into params.');
  const { signal, timeout, priority, params, transfer = false } = read;
  const numbers = resolveSettings(REQUEST_SETTINGS, { timeout, priority }, 'invalid-input');
  if (typeof transfer !== 'boolean') throw wrong('transfer', 'true or false', transfer);
  if (params !== undefined && (typeof params !== 'object' || params === null))
    throw wrong('params', 'an object', params);
  const own = copied(params as Params | undefined);
  if (Array.isArray(own)) throw wrong('params', 'an object', own);
  return { ...numbers, signal: checkedSignal(signal), params: own, transfer };
}

/** Checks the options of `initialize`. @throws `invalid-input` naming the option */
export function readInitializeOptions(options: InitializeOptions): InitializeOptions {
  const { signal, onProgress } = readCallOptions(options, 'initialize', ['signal', 'onProgress']);
  if (onProgress !== undefined && typeof onProgress !== 'function') throw wrong('onProgress', 'a function', onProgress);
  const checked = checkedSignal(signal);
  return { ...(checked && { signal: checked }), ...(onProgress && { onProgress }) };
}

/** @throws `invalid-input` for what is no signal */
export function checkedSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  try {
    // This getter refuses whatever is not a signal, and takes a signal of another frame.
    Object.getOwnPropertyDescriptor(AbortSignal.prototype, 'aborted')!.get!.call(signal);
    return signal;
  } catch {
    throw wrong('signal', 'an AbortSignal', signal);
  }
}

function copied(params: Params | undefined): Params {
  try {
    return params ? structuredClone(params) : {};
  } catch (cause) {
    throw new TabServeError('not-cloneable', `params cannot be sent to the worker: ${messageOf(cause)}`, { cause });
  }
}

function wrong(option: string, expected: string, got: unknown): TabServeError {
  return new TabServeError('invalid-input', `${option}: expected ${expected}, got ${describeValue(got)}.`);
}

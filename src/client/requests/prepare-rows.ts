import { describeValue } from '../../contract/describe-value.js';
import { asTabServeError, PredictionError, TabServeError } from '../../contract/errors.js';
import { timeoutError, unlessAborted } from '../../shared/abort.js';
import { prepare, type Prepared, type PrepareOptions } from './inputs.js';

/** One row of a call: prepared, or the error of a row that could not be prepared. Such a row fails alone. */
export type PreparedRow = Prepared | PredictionError;

export interface RowOptions {
  readonly transfer: boolean;
  readonly signals: readonly AbortSignal[];
  /** Milliseconds. */
  readonly timeout: number | undefined;
}

/** Returns a copy of a list, whose holes are undefined. @throws `invalid-input` unless it is a list of at least one input */
export function readList<T>(inputs: readonly T[]): readonly T[] {
  try {
    if (Array.isArray(inputs) && inputs.length > 0)
      return Array.from({ length: inputs.length }, (_, at) => inputs[at]!);
  } catch {
    // Reported below: a proxy may throw at any look.
  }
  const got = describeValue(inputs);
  throw new TabServeError('invalid-input', `handle expects a list of at least one input, got ${got}.`);
}

/** Prepares inputs. It is synchronous unless an input takes time, so that most inputs are sent within the call itself. @throws `aborted`, `timeout` */
export function prepareRows(
  inputs: readonly unknown[],
  options: RowOptions,
): readonly PreparedRow[] | Promise<readonly PreparedRow[]> {
  let stop: AbortController | undefined;
  // Few inputs are downloads, which alone need the signal.
  const shared: PrepareOptions = {
    transfer: options.transfer,
    get signal() {
      return (stop ??= new AbortController()).signal;
    },
  };
  const rows = inputs.map((input) => prepareRow(input, shared));
  if (rows.every((row) => !(row instanceof Promise))) return rows as PreparedRow[];
  // The call returns before these rows are sent.
  for (const row of rows) if ('snapshot' in row) row.snapshot();
  return inTime(Promise.all(rows), options).catch((error: unknown) => {
    stop?.abort(error);
    throw error;
  });
}

async function inTime(
  preparing: Promise<readonly PreparedRow[]>,
  { signals, timeout }: RowOptions,
): Promise<readonly PreparedRow[]> {
  const late = new AbortController();
  const timer = timeout === undefined ? undefined : setTimeout(() => late.abort(timeoutError(timeout)), timeout);
  try {
    return await unlessAborted(preparing, AbortSignal.any([...signals, late.signal]));
  } catch (error) {
    void preparing.then((rows) => rows.forEach((row) => row instanceof PredictionError || row.release()));
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function prepareRow(input: unknown, options: PrepareOptions): PreparedRow | Promise<PreparedRow> {
  try {
    const prepared = prepare(input, options);
    return prepared instanceof Promise ? prepared.catch(failedRow) : prepared;
  } catch (error) {
    return failedRow(error);
  }
}

function failedRow(error: unknown): PredictionError {
  return PredictionError.from(asTabServeError(error, 'preprocess'));
}

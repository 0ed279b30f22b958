import { asTabServeError, PredictionError, TabServeError } from '../../contract/errors.js';
import { isKept, type KeptMessage } from '../../contract/kept-message.js';
import { isPlainObject } from '../../shared/is-plain-object.js';
import { checkLength } from './handler-contract.js';
import type { Context } from '../../contract/handler.js';

/** A row of a batch: the value itself, or the value in TorchServe's wrapper, `{ data }` or `{ body }`. */
export type Row<T> = T | { readonly data: T } | { readonly body: T };

/**
 * Returns an input that the page keeps.
 * @throws `state-lost` if the page has sent its key alone
 */
export function keptValue<T>(message: KeptMessage<T>): T {
  if ('value' in message) return message.value as T;
  throw new TabServeError(
    'state-lost',
    'The worker no longer keeps what it made of this input, and the input itself was not sent. Send it, too.',
  );
}

/**
 * Returns the value of a row, without TorchServe's wrapper, and of an input that the page keeps. A wrapper is a plain
 * object whose only key is `data` or `body`; a tensor or an ImageData, which have a `data` and other keys, is a
 * value.
 */
export function unwrap<T>(row: Row<T>): T {
  if (!isPlainObject(row)) return row;
  if (isKept(row)) return keptValue(row as KeptMessage as KeptMessage<T>);
  const [key, ...others] = Object.keys(row);
  const isWrapper = others.length === 0 && (key === 'data' || key === 'body');
  if (!isWrapper) return row as T;
  const value = (row as Readonly<Record<string, T | KeptMessage<T>>>)[key]!;
  return isKept(value) ? keptValue(value) : value;
}

/**
 * Returns a context for row `index` as a batch of one, or of `rows` variants of it, with the row's params and request
 * id, and a new map of failures.
 */
export function rowContext(context: Context, index: number, rows = 1): Context {
  const failures = new Map<number, Error>();
  return {
    ...context,
    systemProperties: { ...context.systemProperties, batchSize: rows },
    requestIds: Array.from({ length: rows }, () => context.requestIds[index]!),
    params: Array.from({ length: rows }, () => context.params[index] ?? {}),
    failures,
    send: (_, part) => context.send(index, part),
    fail(variant, error) {
      const at = rows === 1 ? 0 : variant;
      if (!failures.has(at)) failures.set(at, asTabServeError(error));
    },
    sequenceId: () => context.sequenceId(index),
    state: () => context.state(index),
    setState: (_, value) => context.setState(index, value),
    request: () => context.request(index),
    respond: (_, answer) => context.respond(index, answer),
  };
}

/** Returns the code of the error for params that do not fit the model: of the request if it has set one, or of the config. */
export function codeOfParams(
  names: readonly string[],
  index: number,
  { params }: Context,
): 'invalid-input' | 'model-config' {
  return names.some((name) => params[index]?.[name] !== undefined) ? 'invalid-input' : 'model-config';
}

/**
 * Returns a handler's results, with an error for each row that has failed.
 * @throws `batch-contract` if there is not one result for each row
 */
export function withFailures<Result>(
  results: readonly Result[],
  rows: number,
  { failures }: Context,
): readonly (Result | PredictionError)[] {
  if (failures.size < rows) checkLength(results, rows);
  return Array.from({ length: rows }, (_, index) => {
    const failure = failures.get(index);
    return failure ? PredictionError.from(failure) : results[index]!;
  });
}

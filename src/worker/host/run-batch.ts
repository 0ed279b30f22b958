import type { Envelope, HandleRequest } from '../../contract/wire.js';
import { errorToData } from '../../contract/error-data.js';
import { asTabServeError, blameOf, type ErrorCode, PredictionError, TabServeError } from '../../contract/errors.js';
import { checkLength } from '../handlers/handler-contract.js';
import { transferablesOf, transferResult } from '../outputs/transfer.js';
import { batchContext, type BatchContext, type BatchOptions, type HandlerEnvironment } from './context.js';
import { notCloneable } from './endpoint.js';
import { copyStates } from './retained-states.js';
import { describeValue, shorten } from '../../contract/describe-value.js';
import type { Handler } from '../../contract/handler.js';
import type { Session, Tensors } from '../../contract/tensors.js';
import type { Recorder } from './recorder.js';

/** The handler that runs a batch, and the parts of the batch's context that the host provides. */
export interface BatchRunner
  extends Pick<BatchContext, 'metrics' | 'signal'>, Pick<BatchOptions, 'send' | 'onAnswer' | 'onProgress'> {
  readonly handler: Handler;
  readonly environment: HandlerEnvironment;
}

/** The answer to each row, ready to be sent to the page. */
export interface BatchAnswer {
  readonly rows: readonly Envelope<unknown>[];
  readonly transferables: Transferable[];
  /**
   * What the handler set as the state of each row's sequence, except for rows that failed. Missing if no row is of a
   * sequence.
   */
  readonly states?: readonly unknown[];
}

/**
 * Runs one batch. If a stage throws, runs the batch again row by row, once: then one bad row fails alone, whatever the
 * handler does about it. A streamed request is one row, so it is never run again, and no part is sent twice.
 * @throws the batch's failure, if no single row caused it
 */
export async function runBatch(request: BatchRequest, runner: BatchRunner): Promise<BatchAnswer> {
  const states: unknown[] = request.rows.map(() => undefined);
  const results = cloneStates(unshare(await runOrRetry(request, runner, states)), states);
  const transferables = new Set(results.flatMap((result) => [...transferablesOf(result)]));
  const rows = results.map((result): Envelope<unknown> =>
    result instanceof PredictionError ? { ok: false, error: errorToData(result) } : { ok: true, value: result },
  );
  return { rows, transferables: [...transferables], ...(request.sequenceIds && { states }) };
}

/** What running needs of a request. */
export type BatchRequest = Pick<HandleRequest, 'rows' | 'ids' | 'params' | 'request' | 'resumed' | 'http'> &
  Pick<BatchOptions, 'sequenceIds' | 'states'>;

/**
 * Runs one batch, and where a stage throws, runs it again row by row, once. Where what runs beside a row would change its
 * numbers, runs the batch row by row at once.
 * @param states where the new states of the rows' sequences are put
 * @returns for each row its result, or its `PredictionError`
 * @throws the batch's failure, if no single row caused it
 */
export async function runOrRetry(
  request: BatchRequest,
  runner: BatchRunner,
  states: unknown[],
): Promise<readonly unknown[]> {
  const { rows } = request;
  const again = { ...request, ...(rows.length > 1 && request.states && { states: copyStates(request.states) }) };
  const { observations } = runner.metrics;
  const before = observations.length;
  const { handler, environment } = runner;
  if (rows.length > 1 && environment.quantizesAtRunTime && !handler.runsRowsAlone)
    return await runOneByOne(request, runner, states);
  try {
    return await runRows(request, runner, states, 0, rows.length);
  } catch (error) {
    const failure = asTabServeError(error);
    if (rows.length < 2 || runner.signal.aborted || concernsAllRows(failure.code)) throw failure;
    // Each row records its observations again.
    observations.length = before;
    return await runOneByOne(again, runner, states, failure);
  }
}

/** @param failure of all rows together. If each row fails alike, it is the handler's fault, and no row's */
async function runOneByOne(
  request: BatchRequest,
  runner: BatchRunner,
  states: unknown[],
  failure?: TabServeError,
): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  let common = failure;
  for (const index of request.rows.keys()) {
    try {
      results.push(...(await runRows(request, runner, states, index, index + 1)));
    } catch (error) {
      const own = asTabServeError(error);
      if (!failure && (runner.signal.aborted || concernsAllRows(own.code))) throw own;
      common ??= own;
      results.push(PredictionError.from(own));
    }
  }
  const allFailAlike = results.every((result) => result instanceof PredictionError && result.code === common?.code);
  if (allFailAlike && isFaultOfHandler(common!.code)) throw common;
  return results;
}

/** Gives the handler the rows from `from` up to, but not including, `to`. */
async function runRows(
  { rows, ids, params, request, resumed, sequenceIds, states, http }: BatchRequest,
  { handler, environment, metrics, signal, send, onProgress, onAnswer }: BatchRunner,
  newStates: unknown[],
  from: number,
  to: number,
): Promise<readonly unknown[]> {
  if (request === 'infer') return await inferRows(handler, rows.slice(from, to), metrics);
  const batchSize = to - from;
  const [batchIds, batchParams] = [ids.slice(from, to), params.slice(from, to)];
  const context = batchContext(environment, {
    metrics,
    signal,
    send,
    onProgress,
    resumed,
    kind: request,
    batchSize,
    ids: batchIds,
    params: batchParams,
    sequenceIds: sequenceIds?.slice(from, to),
    states: states?.slice(from, to),
    http: http?.slice(from, to),
    onAnswer: onAnswer && ((index, answer) => onAnswer(from + index, answer)),
  });
  // A handler's class may override `handle`, and so its check.
  const results = checkLength(await handler.handle(rows.slice(from, to) as never[], context), batchSize);
  for (const [index, state] of context.newStates)
    if (!(results[index] instanceof PredictionError)) newStates[from + index] = state;
  return results;
}

/**
 * These codes blame the app, but in a worker they may be thrown for one row: by a handler, or `worker-failed` because a
 * script is missing that not every row needs.
 */
const THROWN_FOR_ROWS: ReadonlySet<ErrorCode> = new Set(['timeout', 'queue-full', 'worker-failed']);

/** Returns whether no single row can have caused an error: without any one row, the others would fail as well. */
function concernsAllRows(code: ErrorCode): boolean {
  const blame = blameOf(code);
  return blame === 'worker' || (blame === 'app' && !THROWN_FOR_ROWS.has(code));
}

/**
 * Returns whether an error with which every row fails alone is the fault of the handler or its config: then the batch
 * fails.
 */
function isFaultOfHandler(code: ErrorCode): boolean {
  // A handler's own error becomes `handler-failed`. It may still be the fault of the row.
  if (blameOf(code) === 'handler') return code !== 'handler-failed';
  // A handler may throw the archive's other codes for a row: `network`, if it downloads something for each row.
  return code === 'model-config';
}

/**
 * Replaces each state by a clone, because the page retains it and a caller's changes of a result must not change it. A
 * row that fails has none.
 * @returns the results; of a row whose state cannot be cloned, its failure
 */
function cloneStates(results: readonly unknown[], states: unknown[]): readonly unknown[] {
  return results.map((result, index) => {
    const state = states[index];
    states[index] = undefined;
    if (state === undefined || result instanceof PredictionError) return result;
    try {
      states[index] = structuredClone(state);
      return result;
    } catch (error) {
      return notCloneable(error);
    }
  });
}

/**
 * Clones an object that is the result of more than one row: callers must not share it, and it can be transferred only
 * once.
 */
function unshare(results: readonly unknown[]): readonly unknown[] {
  const seen = new Set<unknown>();
  return results.map((result) => {
    if (typeof result !== 'object' || result === null || result instanceof PredictionError || !seen.has(result)) {
      seen.add(result);
      return result;
    }
    try {
      return structuredClone(result);
    } catch (error) {
      return notCloneable(error);
    }
  });
}

/**
 * Runs a handler's model on each row, which contains all of its inputs. No stage of the handler runs.
 * @returns for each row the model's outputs, whose buffers move to the page
 * @throws `unsupported` if the handler has no `model`; `invalid-input` for a row without tensors, and what the
 *   model's run throws
 */
export async function inferRows(handler: Handler, rows: readonly unknown[], metrics: Recorder): Promise<unknown[]> {
  const { model } = handler as { readonly model?: Session };
  if (!model)
    throw new TabServeError(
      'unsupported',
      `${handler.constructor.name} has no model of its own, so it cannot run on tensors. Send it what its handler takes.`,
    );
  const started = performance.now();
  try {
    const results: unknown[] = [];
    for (const row of rows) results.push(await inferRow(model, row));
    return results;
  } catch (error) {
    throw asTabServeError(error, 'inference');
  } finally {
    metrics.ran('inference', performance.now() - started);
  }
}

async function inferRow(model: Session, row: unknown): Promise<Tensors> {
  const wrong = typeof row === 'object' && row !== null ? whatIsWrong(row) : `got ${describeValue(row)}`;
  if (wrong !== undefined)
    throw new TabServeError(
      'invalid-input',
      `Expected an object with a tensor ({ dtype, dims, data }) for each input of the model: ${wrong}.`,
    );
  const outputs = await model.run(row as Tensors);
  const buffers = Object.values(outputs).flatMap(({ data }) =>
    ArrayBuffer.isView(data) ? [data.buffer as ArrayBuffer] : [],
  );
  return transferResult(outputs, [...new Set(buffers)]);
}

/**
 * Describes the first input that is not a tensor: what it is, or what it lacks. Returns undefined if each input is a
 * tensor.
 */
function whatIsWrong(row: object): string | undefined {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value !== 'object' || value === null) return `"${shorten(name)}" is ${describeValue(value)}`;
    const lacks = ['dtype', 'dims', 'data'].find((key) => !(key in value));
    if (lacks) return `"${shorten(name)}" has no ${lacks}`;
  }
  return undefined;
}

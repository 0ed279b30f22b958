import { describeValue, shorten } from '../contract/describe-value.js';
import { asTabServeError, TabServeError } from '../contract/errors.js';
import type { Handler } from '../contract/handler.js';
import type { Session, Tensors } from '../contract/tensors.js';
import { transferResult } from '../outputs/transfer.js';
import type { Recorder } from './recorder.js';

/**
 * Runs a handler's model on each row, which holds all of its inputs. No stage of the handler runs.
 * @returns for each row the model's outputs, whose buffers move to the page
 * @throws `unsupported` if the handler has no `model`; `invalid-input` for a row that holds no tensors, and what the model's run throws
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
  const buffers = Object.values(outputs).flatMap(({ data }) => (ArrayBuffer.isView(data) ? [data.buffer as ArrayBuffer] : [])); // prettier-ignore
  return transferResult(outputs, [...new Set(buffers)]);
}

/** Returns what the first input that is no tensor is, or lacks; undefined if each is a tensor. */
function whatIsWrong(row: object): string | undefined {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value !== 'object' || value === null) return `"${shorten(name)}" is ${describeValue(value)}`;
    const lacks = ['dtype', 'dims', 'data'].find((key) => !(key in value));
    if (lacks) return `"${shorten(name)}" has no ${lacks}`;
  }
  return undefined;
}

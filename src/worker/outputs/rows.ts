import { TabServeError } from '../../contract/errors.js';
import type { Tensor, Tensors } from '../../contract/tensors.js';
import { row } from '../tensors/tensors.js';

/**
 * Returns the output `name`, which holds numbers.
 * @throws `inference-failed` if it is missing, as where an override of `inference` returns others; `model-config` if it
 *   holds strings
 */
export function numbersOf(outputs: Tensors, name: string): Tensor {
  const output = outputs[name];
  if (!output)
    throw new TabServeError(
      'inference-failed',
      `The output "${name}" is missing; inference returned ${
        Object.keys(outputs)
          .map((other) => `"${other}"`)
          .join(', ') || 'none'
      }.`,
    );
  if (output.dtype !== 'string') return output;
  throw new TabServeError(
    'model-config',
    `handler.outputName: the handler needs numbers, but the output "${name}" is string [${output.dims.join(', ')}]. Name another output.`,
  );
}

/**
 * Checks that an output has one item for each row of a batch.
 * @throws `batch-contract` if its first axis has another size
 */
export function checkRows(name: string, { dims }: Pick<Tensor, 'dims'>, rows: number): void {
  if (dims[0] === rows) return;
  throw new TabServeError(
    'batch-contract',
    `Output "${name}" has the dims [${dims.join(', ')}]; the first axis must have the size ${rows}, one item per row.`,
  );
}

/**
 * Returns what an output holds for one row of a batch. That of a batch of one row may lack the batch axis.
 * @throws `batch-contract` if its first axis has not one item for each row
 */
export function rowPart(name: string, output: Tensor, index: number, rows: number): Tensor {
  if (rows === 1 && output.dims[0] !== 1) return output;
  checkRows(name, output, rows);
  return row(output, index);
}

/** Checks that an output holds something. @throws `inference-failed` */
export function checkFilled(name: string, { dims, data }: Tensor): void {
  if (data.length > 0) return;
  throw new TabServeError(
    'inference-failed',
    `Output "${name}" is empty: its dims are [${dims.join(', ')}]. Check the input, or name another output in handler.outputName.`,
  );
}
